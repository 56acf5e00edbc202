"""The keys that sign checkpoints and captured plans: a file outside the database that only its owner can read.

The file has one key after another as PEM, which `openssl pkey` reads as well; the last is the newest. Rotation adds a
key and keeps the others: a log switches to the new key by an entry that both sign, and needs the old one until then.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from headwater.errors import KeyUnusable, shorten

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_VARIABLE = "HEADWATER_KEY"
_PEM = re.compile(rb"-----BEGIN PRIVATE KEY-----\n.*?-----END PRIVATE KEY-----\n", re.DOTALL)
_PRIVATE_MODE = stat.S_IRUSR | stat.S_IWUSR
_PUBLIC_SIZE = 32


def default_key_file() -> Path:
    """Return the file that HEADWATER_KEY names, or one in the user's settings folder."""
    configured = os.environ.get(KEY_VARIABLE)
    if configured:
        return Path(configured)
    folder = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME")
    return Path(folder or Path.home() / ".config") / "headwater" / "signing.pem"


class SigningKey:
    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes_raw()

    @classmethod
    def new(cls) -> SigningKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_pem(cls, pem: bytes) -> SigningKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        key = load_pem_private_key(pem, None)
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError("not an Ed25519 key")
        return cls(key)

    def pem(self) -> bytes:
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)

    def __repr__(self) -> str:
        return f"<SigningKey {base64.b64encode(self.public).decode()}>"


def key_text(public: bytes) -> str:
    return base64.b64encode(public).decode()


def public_key(text: str) -> bytes:
    """A public key that :func:`key_text` wrote."""
    try:
        result = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        result = b""
    if len(result) != _PUBLIC_SIZE or key_text(result) != text:
        raise KeyUnusable(f"'{shorten(text)}' is not a public Ed25519 key: {_PUBLIC_SIZE} bytes in Base64.")
    return result


def read_public_key(text_or_file: str) -> str:
    """A public key in Base64: as such, or from a file with a private key or a public key as PEM."""
    if not os.path.isfile(text_or_file):
        public_key(text_or_file)
        return text_or_file
    file = Path(text_or_file)
    content = file.read_bytes()
    if b"PRIVATE KEY" in content:
        return key_text(KeyRing.load(file).newest.public)
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        result = load_pem_public_key(content)
    except ValueError:
        raise KeyUnusable(f"{file} does not hold a key as PEM.") from None
    if not isinstance(result, Ed25519PublicKey):
        raise KeyUnusable(f"{file} holds a key that is not Ed25519.")
    return key_text(result.public_bytes_raw())


def verifies(public: bytes, signature: bytes, data: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except InvalidSignature:
        return False
    return True


@dataclass(frozen=True, slots=True)
class KeyRing:
    file: Path
    keys: tuple[SigningKey, ...]
    """The oldest first."""

    @property
    def newest(self) -> SigningKey:
        return self.keys[-1]

    def of(self, public: bytes) -> SigningKey | None:
        return next((key for key in self.keys if key.public == public), None)

    @classmethod
    def create(cls, file: Path) -> KeyRing:
        """A new file with a new key. An existing file is never overwritten."""
        ring = cls(file, (SigningKey.new(),))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(_new_file(file), ring._pem())
            _sync_folder(file.parent)
        except FileExistsError:
            raise KeyUnusable(f"{file} already holds a key. `headwater keys rotate` replaces it.") from None
        except OSError as error:
            raise ring._unwritable(error) from None
        return ring

    @classmethod
    def load(cls, file: Path) -> KeyRing:
        try:
            content = file.read_bytes()
            mode = file.stat().st_mode
        except FileNotFoundError:
            raise KeyUnusable(f"No key at {file}. `headwater keys new` creates one.") from None
        except OSError as error:
            raise KeyUnusable(f"The key at {file} cannot be read: {error.strerror}.") from None
        if os.name == "posix" and stat.S_IMODE(mode) & ~_PRIVATE_MODE & 0o077:
            raise KeyUnusable(f"The key file {file} is accessible to other users. Run chmod 600 '{file}'.")
        pems = _PEM.findall(content)
        if not pems or b"".join(pems) != content:
            raise KeyUnusable(f"{file} does not hold private keys as PEM.")
        try:
            return cls(file, tuple(map(SigningKey.from_pem, pems)))
        except ValueError:
            raise KeyUnusable(f"{file} holds a key that is damaged or not Ed25519.") from None

    @classmethod
    def load_or_create(cls, file: Path) -> KeyRing:
        """The keys of a file, which is created with a new key if it does not exist. Several processes may call this at
        once: the file is never incomplete, and all of them get the same key."""
        if file.exists():
            _refuse_foreign(file)
            return cls.load(file)
        ring = cls(file, (SigningKey.new(),))
        unfinished = file.with_name(f"{file.name}.{os.getpid()}-{os.urandom(4).hex()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(_new_file(unfinished), ring._pem())
            try:
                os.link(unfinished, file)  # fails if another process was faster
                _sync_folder(file.parent)
            finally:
                unfinished.unlink(missing_ok=True)
        except FileExistsError:
            return cls.load(file)
        except OSError as error:
            raise ring._unwritable(error) from None
        return ring

    def rotate(self) -> KeyRing:
        """Add a new key to the file. It is on disk before it is used: no entry can follow one signed by a lost key."""
        unfinished = self.file.with_name(f"{self.file.name}.new")
        try:
            opened = _new_file(unfinished)
        except FileExistsError:
            raise KeyUnusable(
                f"Another key rotation is in progress. If it was interrupted, remove {unfinished}."
            ) from None
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            # The process that created this file holds the lock, and adds its key to those that others added before.
            ring = KeyRing(self.file, (*KeyRing.load(self.file).keys, SigningKey.new()))
            _write(opened, ring._pem())
            unfinished.replace(self.file)
            _sync_folder(self.file.parent)
        except OSError as error:
            raise self._unwritable(error) from None
        finally:
            opened.close()
            unfinished.unlink(missing_ok=True)
        return ring

    def _pem(self) -> bytes:
        return b"".join(key.pem() for key in self.keys)

    def _unwritable(self, error: OSError) -> KeyUnusable:
        return KeyUnusable(f"A key cannot be written to {self.file}: {error.strerror}.")


def _refuse_foreign(file: Path) -> None:
    """Refuse the key file of another user, which root could read."""
    if os.name == "posix" and file.stat().st_uid != os.geteuid():
        raise KeyUnusable(f"The key at {file} belongs to another user.")


def _new_file(file: Path) -> BinaryIO:
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_MODE), "wb")


def _write(opened: BinaryIO, content: bytes) -> None:
    with opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power cut. Windows has no call for it."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
