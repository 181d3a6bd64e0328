"""Tests of rendering with the real Chromium."""
