// SHA-256, MD5 and Ed25519. Only Sources/Foundations/Cryptography imports this module.
//
// Apple's systems have the hashes in CommonCrypto, and Ed25519 in CryptoKit, which Swift calls. Elsewhere both are OpenSSL's.
// The functions of one hash algorithm are deprecated there, but their state is a plain value: EVP allocates for every hash, which a
// tile of some hundred bytes would notice. They always return 1 (OpenSSL 3, SHA256_Init(3)).
#pragma once
#include <stddef.h>

#if __has_include(<CommonCrypto/CommonDigest.h>)
#include <CommonCrypto/CommonDigest.h>
typedef CC_SHA256_CTX ph_sha256;
typedef CC_MD5_CTX ph_md5;
typedef CC_LONG ph_count;
#define PH_HASH(name) CC_##name
#else
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/md5.h>
#include <openssl/sha.h>
typedef SHA256_CTX ph_sha256;
typedef MD5_CTX ph_md5;
typedef size_t ph_count;
#define PH_HASH(name) name
#endif

// CommonCrypto counts in 32 bits: so many bytes are given to it at once.
#define PH_HASH_PIECE ((size_t)1 << 30)
#define PH_HASH_FUNCTIONS(type, NAME) \
    static inline void type##_init(type *state) { PH_HASH(NAME##_Init)(state); } \
    static inline void type##_update(type *state, const void *bytes, size_t count) { \
        for (const unsigned char *next = (const unsigned char *)bytes; count > 0;) { \
            size_t piece = count > PH_HASH_PIECE ? PH_HASH_PIECE : count; \
            PH_HASH(NAME##_Update)(state, next, (ph_count)piece); \
            next += piece; \
            count -= piece; \
        } \
    } \
    static inline void type##_final(type *state, unsigned char *digest) { PH_HASH(NAME##_Final)(digest, state); }
PH_HASH_FUNCTIONS(ph_sha256, SHA256)
PH_HASH_FUNCTIONS(ph_md5, MD5)

#if !__has_include(<CommonCrypto/CommonDigest.h>)
// Keys have 32 bytes and signatures 64 (RFC 8032). Each function returns 1, or 0 for a key or signature that is not valid.

static inline int ph_ed25519_public_key(const unsigned char *secret, unsigned char *key) {
    size_t count = 32;
    EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, 32);
    int done = pair && EVP_PKEY_get_raw_public_key(pair, key, &count) == 1 && count == 32;
    EVP_PKEY_free(pair);
    return done;
}

static inline int ph_ed25519_sign(
    const unsigned char *secret, const unsigned char *bytes, size_t byte_count, unsigned char *signature) {
    size_t count = 64;
    EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, 32);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int done = pair && context && EVP_DigestSignInit(context, NULL, NULL, NULL, pair) == 1
        && EVP_DigestSign(context, signature, &count, bytes, byte_count) == 1 && count == 64;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(pair);
    return done;
}

static inline int ph_ed25519_verify(
    const unsigned char *key, const unsigned char *bytes, size_t byte_count, const unsigned char *signature) {
    EVP_PKEY *pair = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, 32);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int valid = pair && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, pair) == 1
        && EVP_DigestVerify(context, signature, 64, bytes, byte_count) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(pair);
    return valid;
}
#endif
