"""The nets: small convolutional ones that spell a field column by column, and a smaller one for marks."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from recognize.digits import SYMBOLS

CLASSES = len(SYMBOLS) + 1


def _step(into: int, out: int, kernel: int | tuple[int, int], stride: int | tuple[int, int]) -> nn.Sequential:
    size = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    padding = (size[0] // 2 if size[0] != 6 else 0, size[1] // 2)
    return nn.Sequential(
        nn.Conv2d(into, out, size, stride, padding, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True)
    )


class Residual(nn.Module):
    """A convolution whose result is added to what it was given."""

    def __init__(self, channels: int, kernel: tuple[int, int] = (3, 3)) -> None:
        """Random weights."""
        super().__init__()
        padding = (kernel[0] // 2, kernel[1] // 2)
        self.convolution = nn.Conv2d(channels, channels, kernel, padding=padding, bias=False)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        return torch.relu(x + self.norm(self.convolution(x)))


class _Attend(nn.Module):
    """Each channel weighed by what the whole field looks like: a strike-through at one end matters at the other."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, channels // 4, 1)
        self.excite = nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        whole = x.mean(dim=(2, 3), keepdim=True)
        return x * torch.sigmoid(self.excite(torch.relu(self.squeeze(whole))))


class NumberNet(nn.Module):
    """(N, 1, 48, W) pictures → (N, W/2, 13) log probabilities of a symbol ending in a column."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 5, 2, 2),
            nn.ReLU(inplace=True),
            _step(16, 32, 3, 2),
            Residual(32),
            Residual(32),
            _step(32, 64, 3, (2, 1)),
            Residual(64),
            Residual(64),
            Residual(64),
            _Attend(64),
            _step(64, 128, (6, 3), 1),
            Residual(128, (1, 5)),
            Residual(128, (1, 5)),
            _Attend(128),
            nn.Dropout2d(0.05),
        )
        # Two columns from each place: digits written small are no more than one place wide.
        self.spell = nn.Conv2d(128, 2 * CLASSES, (1, 3), padding=(0, 1))

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        said = self.spell(self.features(x)).squeeze(2).permute(0, 2, 1)
        return said.unflatten(2, (2, CLASSES)).flatten(1, 2).float().log_softmax(2)


class Readers(nn.Module):
    """Several number nets, each with its own view: (N, nets, 48, W) pictures → (N, nets, W/2, 13) log probabilities."""

    def __init__(self, nets: Iterable[nn.Module]) -> None:
        """The nets as they are."""
        super().__init__()
        self.nets = nn.ModuleList(nets)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        return torch.stack([net(x[:, i : i + 1]) for i, net in enumerate(self.nets)], 1)


class MarkNet(nn.Module):
    """(N, 1, 32, 32) pictures → (N, 3) log probabilities of empty, marked, cancelled."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 5, 2, 2),
            nn.ReLU(inplace=True),
            _step(8, 24, 3, 2),
            Residual(24),
            _step(24, 40, 3, 2),
            Residual(40),
            nn.Flatten(),
        )
        self.decide = nn.Sequential(nn.Linear(40 * 16, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 3))

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        return self.decide(self.features(x)).float().log_softmax(1)
