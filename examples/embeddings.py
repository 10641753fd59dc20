"""Writes an embedding of every frame of a LeRobot dataset's camera: a Parquet table for `isochrone --embedding`.

    pip install lerobot transformers pyarrow
    python examples/embeddings.py org/name observation.images.top top.parquet
    isochrone train --data org/name --embedding top.parquet
"""
import sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq, torch
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from transformers import AutoImageProcessor, AutoModel

name, camera, output = sys.argv[1:4]
model_name = sys.argv[4] if len(sys.argv) > 4 else "facebook/dinov2-small"  # or google/siglip-base-patch16-224
device = "cuda" if torch.cuda.is_available() else "cpu"
processor = AutoImageProcessor.from_pretrained(model_name)
model = AutoModel.from_pretrained(model_name).eval().to(device)
vision = getattr(model, "vision_model", model)  # SigLIP has a text model, too
frames = torch.utils.data.DataLoader(LeRobotDataset(name), batch_size=64, num_workers=4)
indices, rows = [], []
with torch.inference_mode():
    for batch in frames:  # images are float32 in [0, 1], [batch, 3, height, width]
        pixels = processor(images=list(batch[camera]), do_rescale=False, return_tensors="pt").to(device)
        rows.append(vision(**pixels).pooler_output.float().cpu().numpy())
        indices.append(batch["index"].numpy())
values, indices = np.concatenate(rows), np.concatenate(indices)
embedding = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])
pq.write_table(pa.table({"index": indices, "embedding": embedding}), output)
