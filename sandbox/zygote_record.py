"""The record on a zygote's control socket: operation, token, number. Shared by both halves."""

import struct

RECORD = struct.Struct("=cxxxIq")
