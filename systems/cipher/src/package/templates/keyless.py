

def @NAME@_blocks(data: _Bytes, target: _Optional[str] = None) -> bytes:
    """@TITLE@: whole blocks of @N_IN@ bytes in, @N_OUT@ bytes each out."""
    out = bytearray(len(data) // @N_IN@ * @N_OUT@)
    _checked(_lib.@NAME@_blocks(_target(target), *_in(data), *_out(out)))
    return bytes(out)
