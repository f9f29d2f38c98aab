
    def encryptor(self, nonce: _Bytes) -> @TYPE@Encryptor:
        """A message that is encrypted in pieces."""
        return @TYPE@Encryptor(self, nonce)
