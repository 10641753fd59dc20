"""Downloads MuJoCo's shared library: python3 mujoco.py FOLDER

The library is taken from the official Python wheel; its hash is checked, and it is written atomically.
"""

import glob
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile

VERSION = "3.17.0"
SHA256 = "23496b023ee80fb61ab71167e94bc649f9941710fde96b18bb8204fb332523ad"

folder = sys.argv[1]
with tempfile.TemporaryDirectory() as downloads:
    platform = ["--only-binary=:all:", "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_17_x86_64", "--python-version", "3.11", "--implementation", "cp"]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", *platform, "--dest", downloads, f"mujoco=={VERSION}"], check=True)
    wheel = zipfile.ZipFile(glob.glob(f"{downloads}/*.whl")[0])
    library = wheel.read(f"mujoco/libmujoco.so.{VERSION}")
found = hashlib.sha256(library).hexdigest()
if found != SHA256:
    sys.exit(f"libmujoco.so.{VERSION}: sha256 {found}, not {SHA256}; hint: this project was tested with another wheel")
os.makedirs(folder, exist_ok=True)
path = os.path.join(folder, f"libmujoco.so.{VERSION}")
with open(f"{path}.part", "wb") as file:
    file.write(library)
    file.flush()
    os.fsync(file.fileno())
os.replace(f"{path}.part", path)
# The linker looks for this name, a running program for the versioned one.
link = os.path.join(folder, "libmujoco.so")
if not os.path.exists(link):
    os.symlink(f"libmujoco.so.{VERSION}", link)
