"""Temporary."""
from toolbridge.failure import *
from toolbridge.failure import FIXES, Cause, Failure
