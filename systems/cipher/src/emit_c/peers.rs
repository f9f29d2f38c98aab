//! The part of a measurement's `main` that compares a stream with that of another library, loaded
//! at run time.

use super::Unit;
use super::arch::Shape;
use super::ctr::{Counter, CounterPiece};

impl Counter {
    /// `against`, for measurements: cycles of one message with a counter of its own, by our stream
    /// and by that of another library, in turn, and the version of the library.
    pub fn against(&self, name: &str, unit: &Unit, shape: Shape) -> String {
        let ctr = self.prefix(name);
        let (_, pass) = self.keys(name, unit, shape);
        let (keys, pass) = if pass.is_empty() {
            (String::new(), "")
        } else {
            (format!("    static {name}_roundkeys keys;\n"), "&keys, ")
        };
        let key_args: String = unit.key_fields().iter().map(|_| ", zeros").collect();
        let expand = if pass.is_empty() {
            String::new()
        } else {
            format!("    {name}_expand(&keys{key_args});\n")
        };
        let init = |piece: &CounterPiece| match piece {
            CounterPiece::Fixed(_) => "",
            CounterPiece::Given(..) => ", zeros",
            CounterPiece::Counter if self.is_block() => ", zeros",
            CounterPiece::Counter => ", 0",
        };
        let init_args: String = self.pieces.iter().map(init).collect();
        let n_key = unit.key_fields().first().map_or(32, |field| field.layout.n_bytes);
        format!(
            "{PEERS}
static int against(const char *peer, const char *cipher, const char *without, int rounds, int calls, size_t n)
{{
    static {ctr} stream;
{keys}    const char *version = !strcmp(peer, \"openssl\") ? openssl_start(cipher) : libgcrypt_start(cipher, without, {n_key});
    void (*theirs)(uint8_t *, const uint8_t *, size_t) = !strcmp(peer, \"openssl\") ? openssl_message : libgcrypt_message;
    uint8_t *in = aligned_alloc(64, n + 64), *out = aligned_alloc(64, n + 64), *other = aligned_alloc(64, n + 64);
    if (!version || !in || !out || !other)
        return 1;
    memset(in, 1, n);
{expand}    uint64_t best[2] = {{UINT64_MAX, UINT64_MAX}};
    for (int r = 0; r < rounds; r++) {{
        uint64_t before = cycles();
        for (int c = 0; c < calls; c++) {{
            {ctr}_init(&stream{init_args});
            {ctr}_xor(&stream, {pass}in, out, n);
        }}
        uint64_t between = cycles();
        for (int c = 0; c < calls; c++)
            theirs(other, in, n);
        uint64_t behind = cycles();
        best[0] = between - before < best[0] ? between - before : best[0];
        best[1] = behind - between < best[1] ? behind - between : best[1];
    }}
    if (memcmp(out, other, n)) {{
        fprintf(stderr, \"%s of %s gives other bytes\\n\", cipher, peer);
        return 2;
    }}
    printf(\"%.3f %.3f %s\\n\", (double)best[0] / calls, (double)best[1] / calls, version);
    return 0;
}}
"
        )
    }
}

/// Each library after two functions: one that starts it and returns its version, one for a
/// message. Key, nonce and first counter are zeros.
const PEERS: &str = "
#include <dlfcn.h>

static const uint8_t zeros[64];
static void *library, *context;

static void *symbol(const char *file, const char *name)
{
    if (!library)
        library = dlopen(file, RTLD_NOW);
    void *found = library ? dlsym(library, name) : NULL;
    if (!found)
        fprintf(stderr, \"%s\\n\", dlerror());
    return found;
}

static int (*evp_start)(void *, const void *, void *, const uint8_t *, const uint8_t *);
static int (*evp_update)(void *, uint8_t *, int *, const uint8_t *, int);

/* Its processor features are those of OPENSSL_ia32cap. */
static const char *openssl_start(const char *cipher)
{
    const char *file = \"libcrypto.so.3\";
    void *(*new_context)(void) = (void *(*)(void))symbol(file, \"EVP_CIPHER_CTX_new\");
    const void *(*find)(void) = (const void *(*)(void))symbol(file, cipher);
    const char *(*version)(int) = (const char *(*)(int))symbol(file, \"OpenSSL_version\");
    evp_start = (int (*)(void *, const void *, void *, const uint8_t *, const uint8_t *))symbol(file, \"EVP_EncryptInit_ex\");
    evp_update = (int (*)(void *, uint8_t *, int *, const uint8_t *, int))symbol(file, \"EVP_EncryptUpdate\");
    if (!new_context || !find || !version || !evp_start || !evp_update)
        return NULL;
    context = new_context();
    return evp_start(context, find(), NULL, zeros, zeros) ? version(0) : NULL;
}

static void openssl_message(uint8_t *out, const uint8_t *in, size_t n)
{
    int length;
    evp_start(context, NULL, NULL, NULL, zeros);
    evp_update(context, out, &length, in, (int)n);
}

static unsigned (*gcry_restart)(void *, const void *, size_t), (*gcry_crypt)(void *, void *, size_t, const void *, size_t);
static size_t gcry_restart_bytes;

/* Cipher: its name there. Without: names of processor features, separated by commas. */
static const char *libgcrypt_start(const char *cipher, const char *without, size_t n_key)
{
    const char *file = \"libgcrypt.so.20\";
    unsigned (*control)(int, ...) = (unsigned (*)(int, ...))symbol(file, \"gcry_control\");
    const char *(*check)(const char *) = (const char *(*)(const char *))symbol(file, \"gcry_check_version\");
    int (*find)(const char *) = (int (*)(const char *))symbol(file, \"gcry_cipher_map_name\");
    unsigned (*open)(void **, int, int, unsigned) = (unsigned (*)(void **, int, int, unsigned))symbol(file, \"gcry_cipher_open\");
    unsigned (*set_key)(void *, const void *, size_t) = (unsigned (*)(void *, const void *, size_t))symbol(file, \"gcry_cipher_setkey\");
    int is_chacha = !strcmp(cipher, \"CHACHA20\");
    gcry_restart = (unsigned (*)(void *, const void *, size_t))symbol(file, is_chacha ? \"gcry_cipher_setiv\" : \"gcry_cipher_setctr\");
    gcry_crypt = (unsigned (*)(void *, void *, size_t, const void *, size_t))symbol(file, \"gcry_cipher_encrypt\");
    gcry_restart_bytes = is_chacha ? 12 : 16;
    if (!control || !check || !find || !open || !set_key || !gcry_restart || !gcry_crypt)
        return NULL;
    /* GCRYCTL_DISABLE_HWF, before the library looks at the processor; it ignores names that it does not know. */
    char names[256], *rest = names;
    snprintf(names, sizeof names, \"%s\", without);
    for (char *one = strtok_r(names, \",\", &rest); one; one = strtok_r(NULL, \",\", &rest))
        control(63, one, NULL);
    const char *version = check(NULL);
    control(38, 0); /* GCRYCTL_INITIALIZATION_FINISHED */
    /* GCRY_CIPHER_MODE_STREAM, GCRY_CIPHER_MODE_CTR */
    if (open(&context, find(cipher), is_chacha ? 4 : 6, 0) || set_key(context, zeros, n_key))
        return NULL;
    static char text[64];
    snprintf(text, sizeof text, \"libgcrypt %s\", version);
    return text;
}

static void libgcrypt_message(uint8_t *out, const uint8_t *in, size_t n)
{
    gcry_restart(context, zeros, gcry_restart_bytes);
    gcry_crypt(context, out, n, in, n);
}
";
