"""What the bingo dialect needs beside its translator: types, manifests, and each capability."""
