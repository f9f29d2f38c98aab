/* @TITLE@
   Made by meanwhile. */
#ifndef @UP@_H
#define @UP@_H

@INCLUDES@#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. After an error other than FORGED nothing is written. */
enum {
    @UP@_OK = 0,
    @UP@_FORGED = 1,    /* a tag is wrong: the text of that message is zeros */
    @UP@_OVERLAPS = 2,  /* in and out overlap and are not the same */
    @UP@_NULL = 3,      /* a pointer is NULL, and its length is not 0 */
    @UP@_LENGTH = 4,    /* a key, nonce, tag, digest or text of another length, or one of several messages */
    @UP@_TARGET = 5,    /* this processor does not run that target, or the message was not started */
    @UP@_ALIGNMENT = 6, /* a state is not at a multiple of 64 */
    @UP@_ENDED = 7@ENDED@
};
@TYPES@@PROTOTYPES@
#ifdef __cplusplus
}
#endif
#endif
