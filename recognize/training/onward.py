"""Going on from a net that was exported: its weights put back into one that can learn."""

from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor, nn


def take_over(net: nn.Module, path: Path, pictures: Tensor) -> None:
    """Make `net` compute what the exported net of the same layers at `path` does.

    Exporting merges every norm into the convolution before it. Here the convolution takes the merged weights and its
    norm is set to change nothing, by what the convolution gives for `pictures` (N, 1, rows, columns), some hundreds.
    """
    model = onnx.load(str(path))
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    merged = [node for node in model.graph.node if node.op_type == "Conv"]
    convolutions = [layer for layer in net.modules() if isinstance(layer, nn.Conv2d)]
    norms = {layer: norm for layer, norm in _pairs(net)}
    if len(merged) != len(convolutions):
        raise ValueError(f"{path} has {len(merged)} convolutions, the net {len(convolutions)}")
    hooks = []
    with torch.no_grad():
        for layer, node in zip(convolutions, merged, strict=True):
            layer.weight.copy_(torch.from_numpy(stored[node.input[1]].copy()))
            bias = torch.from_numpy(stored[node.input[2]].copy())
            if layer.bias is not None:
                layer.bias.copy_(bias)
            else:
                hooks.append(norms[layer].register_forward_pre_hook(_neutral(bias)))
        net.eval()
        net(pictures)
    for hook in hooks:
        hook.remove()
    net.train()


def _pairs(net: nn.Module) -> list[tuple[nn.Conv2d, nn.BatchNorm2d]]:
    layers = [layer for layer in net.modules() if isinstance(layer, nn.Conv2d | nn.BatchNorm2d)]
    return [
        (first, second)
        for first, second in zip(layers, layers[1:], strict=False)
        if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d)
    ]


def _neutral(bias: Tensor) -> Any:
    def set_before(norm: nn.BatchNorm2d, given: tuple[Tensor, ...]) -> None:
        mean, spread = given[0].mean(dim=(0, 2, 3)), given[0].var(dim=(0, 2, 3), unbiased=False)
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(spread)
        norm.weight.copy_((spread + norm.eps).sqrt())
        norm.bias.copy_(mean + bias)

    return set_before
