/* @TITLE@
   Made by meanwhile. */
#ifndef @UP@_H
#define @UP@_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. After an error nothing is written, and a stream has not moved. */
enum {
    @UP@_OK = 0,
    @UP@_ENDS = 1,     /* the counter would wrap */
    @UP@_OVERLAPS = 2, /* in and out overlap and are not the same */
    @UP@_NULL = 3,     /* a pointer is NULL, and its length is not 0 */
    @UP@_LENGTH = 4,   /* a key, nonce or counter of another length, a part of a block, or out too short */
    @UP@_TARGET = 5,   /* this processor does not run that target, or keys or stream were not made for it or not at all */
    @UP@_ALIGNMENT = 6 /* keys or stream are not at a multiple of 64 */
};
@TYPES@@PROTOTYPES@
#ifdef __cplusplus
}
#endif
#endif
