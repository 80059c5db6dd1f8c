"""Models of language, speech and images of ``transformers``, each with a layer or two and few channels."""

from collections.abc import Callable
from typing import Any

from models.entry import Entry

_SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "vocab_size": 99,
    "max_position_embeddings": 40,
}
"""An encoder or decoder, as the configurations of most models name its sizes."""


def _entry(
    name: str, model: str, config: str, settings: dict[str, Any], inputs: Callable[[], Any], **rest: Any
) -> Entry:
    """An entry for a class of ``transformers``; nothing is loaded."""
    from models.torch_programs import torch_entry

    def build() -> Any:
        from models.without_vision_ops import torchvision

        torchvision()
        import transformers

        made = getattr(transformers, config)(**settings)
        made._attn_implementation, made._experts_implementation = "eager", "batched_mm"
        return getattr(transformers, model)(made)

    return torch_entry(f"transformers {name}", ("transformers",), build, inputs, **rest)


def _tokens(batch: int = 2, length: int = 11, labels: bool = False) -> Callable[[], dict[str, Any]]:
    def make() -> dict[str, Any]:
        import torch

        ids = torch.randint(3, 99, (batch, length))
        return {"input_ids": ids, **({"labels": ids} if labels else {})}

    return make


def _masked(batch: int = 2, length: int = 11) -> Callable[[], dict[str, Any]]:
    """Tokens of which the last row has some that are only there to fill it up."""

    def make() -> dict[str, Any]:
        import torch

        mask = torch.ones(batch, length, dtype=torch.long)
        mask[-1, length - 4 :] = 0
        return {**_tokens(batch, length)(), "attention_mask": mask}

    return make


def _with_mask() -> dict[str, Any]:
    """Inputs with a mask, of whose numbers the model asks some, which a trace of a step does not know."""
    return {"inputs": _masked(), "step_inputs": _tokens()}


def _image(side: int = 32, batch: int = 1) -> Callable[[], dict[str, Any]]:
    def make() -> dict[str, Any]:
        import torch

        return {"pixel_values": torch.randn(batch, 3, side, side)}

    return make


def _t5() -> dict[str, Any]:
    import torch

    return {"input_ids": torch.randint(3, 99, (2, 9)), "labels": torch.randint(3, 99, (2, 7))}


def _clip() -> dict[str, Any]:
    import torch

    return {"input_ids": torch.randint(3, 99, (2, 7)), "pixel_values": torch.randn(3, 3, 32, 32)}


def _whisper() -> dict[str, Any]:
    import torch

    return {"input_features": torch.randn(1, 8, 40), "labels": torch.randint(3, 99, (1, 7))}


def _sound() -> list[Any]:
    import torch

    return [torch.randn(1, 1000)]


def entries() -> list[Entry]:
    """All of them, none made yet."""
    decoder = {**_SMALL, "use_cache": False}
    grouped = {**decoder, "num_key_value_heads": 2}
    return [
        _entry("BERT", "BertModel", "BertConfig", _SMALL, **_with_mask(), per_tile=True),
        _entry("RoBERTa", "RobertaForMaskedLM", "RobertaConfig", _SMALL, _tokens(labels=True)),
        _entry("ALBERT", "AlbertModel", "AlbertConfig", {**_SMALL, "embedding_size": 16}, **_with_mask()),
        _entry("DeBERTa", "DebertaV2Model", "DebertaV2Config", {**_SMALL, **_DEBERTA}, **_with_mask()),
        _entry("DistilBERT", "DistilBertForSequenceClassification", "DistilBertConfig", _DISTIL, _tokens()),
        _entry(
            "ELECTRA",
            "ElectraForPreTraining",
            "ElectraConfig",
            {**_SMALL, "embedding_size": 16},
            _masked(),
            step_inputs=_tokens(),
        ),
        _entry("GPT-2", "GPT2LMHeadModel", "GPT2Config", _GPT2, _tokens(labels=True)),
        _entry("GPT-NeoX", "GPTNeoXForCausalLM", "GPTNeoXConfig", decoder, _tokens(labels=True)),
        _entry("Llama", "LlamaForCausalLM", "LlamaConfig", grouped, _tokens(labels=True), per_tile=True),
        _entry(
            "Mistral", "MistralForCausalLM", "MistralConfig", {**grouped, "sliding_window": 5}, _tokens(labels=True)
        ),
        _entry("Qwen2", "Qwen2ForCausalLM", "Qwen2Config", grouped, _tokens(labels=True)),
        _entry("Gemma", "GemmaForCausalLM", "GemmaConfig", {**grouped, "head_dim": 8}, _tokens(labels=True)),
        _entry("Phi", "PhiForCausalLM", "PhiConfig", decoder, _tokens(labels=True)),
        _entry("Mixtral", "MixtralForCausalLM", "MixtralConfig", {**grouped, **_EXPERTS}, _tokens(labels=True)),
        _entry("Mamba", "MambaForCausalLM", "MambaConfig", _MAMBA, _tokens(labels=True)),
        _entry("T5", "T5ForConditionalGeneration", "T5Config", _T5, _t5),
        _entry("Whisper", "WhisperForConditionalGeneration", "WhisperConfig", _WHISPER, _whisper),
        _entry("Wav2Vec2", "Wav2Vec2Model", "Wav2Vec2Config", _WAV, _sound),
        _entry("CLIP", "CLIPModel", "CLIPConfig", _CLIP, _clip),
        _entry("ViT", "ViTForImageClassification", "ViTConfig", {**_SMALL, **_PATCHES}, _image(), per_tile=True),
        _entry("Segformer", "SegformerForSemanticSegmentation", "SegformerConfig", _SEGFORMER, _image(64)),
        _entry("Yolos", "YolosForObjectDetection", "YolosConfig", {**_SMALL, **_YOLOS}, _image()),
        _entry("Swin", "SwinModel", "SwinConfig", _SWIN, _image()),
    ]


_DEBERTA = {
    "relative_attention": True,
    "position_buckets": 8,
    "pos_att_type": ["p2c", "c2p"],
    "norm_rel_ebd": "layer_norm",
}
_DISTIL = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 37, "vocab_size": 99, "max_position_embeddings": 40}
_GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 99, "n_positions": 40, "use_cache": False}
_EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
_MAMBA = {"hidden_size": 16, "num_hidden_layers": 2, "vocab_size": 99, "state_size": 4, "use_cache": False}
_T5 = {
    "d_model": 32, "d_kv": 8, "d_ff": 37, "num_layers": 2, "num_heads": 4, "vocab_size": 99, "use_cache": False,
    "decoder_start_token_id": 0, "pad_token_id": 0,
}  # fmt: skip
_WHISPER = {
    "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 37, "decoder_ffn_dim": 37, "vocab_size": 99, "num_mel_bins": 8, "max_source_positions": 20,
    "max_target_positions": 20, "use_cache": False, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "decoder_start_token_id": 1,
}  # fmt: skip
_WAV = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37,
    "conv_dim": [16, 16, 16], "conv_kernel": [10, 3, 3], "conv_stride": [5, 2, 2], "num_feat_extract_layers": 3,
    "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4, "apply_spec_augment": False,
}  # fmt: skip
_CLIP = {
    "text_config": {**_SMALL, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0},
    "vision_config": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37,
                      "image_size": 32, "patch_size": 8},
    "projection_dim": 16,
}  # fmt: skip
_PATCHES = {"image_size": 32, "patch_size": 8, "num_labels": 5}
_YOLOS = {
    "image_size": [32, 32],
    "patch_size": 8,
    "num_detection_tokens": 5,
    "num_labels": 3,
    "use_mid_position_embeddings": False,
}
_SEGFORMER = {
    "depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 24, 32], "num_attention_heads": [1, 2, 3, 4],
    "decoder_hidden_size": 16, "num_labels": 4,
}  # fmt: skip
_SWIN = {"image_size": 32, "patch_size": 2, "embed_dim": 12, "depths": [2, 2], "num_heads": [2, 3], "window_size": 4}
