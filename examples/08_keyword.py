"""Hears "hey Jarvis" with openWakeWord's networks, the speech embedding quantized.

    python examples/08_keyword.py

The speech is synthetic: eSpeak NG says the phrase and others in several pitches and speeds.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import networks
import numpy as np
import onnx
import onnxruntime
from rich.console import Console
from rich.table import Table
from scipy import signal

import tf_qops as tfq

WHEEL = (
    "openwakeword==0.4.0",
    "2c353f49a35d384507403efde3db439353d8281a52d08a0e42a5b493e5145075",
)
SPEECH = (
    "espeak-english==0.1.1",
    "9405be636e582ebb95382fd7c2be203d67a914031f8a365cb121cbf1d5650d64",
)
PHRASES = ("hey jarvis", "what is the weather", "hey marvin", "good morning everyone", "jar of jam")


def speak(library: ctypes.CDLL, rate: int, text: str, pitch: int, speed: int) -> np.ndarray:
    """Returns what eSpeak NG says, float32 in the range of int16, 16 kHz, with silence around."""
    parts = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
    def receive(samples, count, events):
        if samples and count > 0:
            parts.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    library.espeak_SetSynthCallback(receive)
    library.espeak_SetParameter(1, speed, 0)  # words a minute
    library.espeak_SetParameter(3, pitch, 0)
    data = text.encode() + b"\0"
    library.espeak_Synth(data, len(data), 0, 1, 0, 1, None, None)  # characters, UTF-8
    library.espeak_Synchronize()
    sound = signal.resample_poly(np.concatenate(parts).astype(np.float32), 16000, rate)
    return np.pad(sound, (32000, 8000)).astype(np.float32)


def windows(sound: np.ndarray, spectrogram: onnxruntime.InferenceSession) -> np.ndarray:
    """Returns [n, 76, 32, 1] pieces of the mel spectrogram, 80 ms apart."""
    mel = np.squeeze(spectrogram.run(None, {"input": sound[None]})[0]) / 10 + 2
    pieces = [mel[i : i + 76] for i in range(0, len(mel) - 75, 8)]
    return np.stack(pieces)[..., None].astype(np.float32)


def score(embeddings: np.ndarray, classifier: onnxruntime.InferenceSession) -> float:
    """Returns the largest probability of the phrase over all 16 embeddings in a row."""
    rows = embeddings.reshape(-1, 96)
    name = classifier.get_inputs()[0].name
    return max(
        float(classifier.run(None, {name: rows[i : i + 16][None]})[0].item())
        for i in range(len(rows) - 15)
    )


def main() -> int:
    """Quantizes with some voices, compares with others; returns 0."""
    console = Console()
    wheel = networks.files_of_wheel(*WHEEL)
    spectrogram, embedding, classifier = (
        wheel.read(f"openwakeword/resources/models/{name}.onnx")
        for name in ("melspectrogram", "embedding_model", "hey_jarvis_v0.1")
    )
    spectrogram, classifier = (
        networks.session(onnx.load_from_string(d)) for d in (spectrogram, classifier)
    )
    with tempfile.TemporaryDirectory() as folder:
        networks.files_of_wheel(*SPEECH).extractall(folder)
        package = pathlib.Path(folder, "espeak_english")
        library = ctypes.CDLL(str(package / "libespeak-ng.so"))
        rate = library.espeak_Initialize(2, 0, str(package).encode(), 0)  # synchronous
        if rate <= 0:
            raise RuntimeError(f"eSpeak NG cannot start. Received: {rate}")
        library.espeak_SetVoiceByName(b"en-us")
        voices = [(pitch, speed) for pitch in (20, 40, 60, 80) for speed in (120, 150, 180)]
        sounds = [
            [windows(speak(library, rate, text, *voice), spectrogram) for text in PHRASES]
            for voice in voices
        ]
    name = onnx.load_from_string(embedding).graph.input[0].name
    batches = [{name: w} for said in sounds[::2] for w in said]
    model = tfq.onnx.import_model(networks.quantize(embedding, batches))
    session = networks.session(onnx.load_from_string(embedding))
    table = Table("says", "float network", "integers", "alike", title="Mean probability, voices")
    alike = 0
    for i, phrase in enumerate(PHRASES):
        pairs = np.array(
            [
                (score(session.run(None, {name: said[i]})[0], classifier),
                 score(model(said[i]).numpy(), classifier))
                for said in sounds[1::2]
            ]
        )  # fmt: skip
        same = (pairs[:, 0] > 0.5) == (pairs[:, 1] > 0.5)
        alike += same.sum()
        table.add_row(phrase, *(f"{v:.3f}" for v in pairs.mean(0)), f"{same.sum()} of {len(same)}")
    console.print(table)
    report = model.import_report
    console.print(
        f"Integer layers: {len(report.fused)}, {report.integer_share:.1%} of the products"
    )
    total = len(PHRASES) * len(sounds[1::2])
    console.print(f"Same decision as the float network: {alike / total:.1%} of {total}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
