# SPDX-License-Identifier: BSD-3-Clause
"""All data sets that can be loaded by name.

Checksums are those that others have published for the same files: scikit-learn for Covertype,
torchvision for USPS, many for MNIST. Where there is none, `digest` is of the values themselves (see
`content_digest`). Where there is neither, the first download is recorded.
"""

import string
from dataclasses import dataclass

from datasets.content import Sizes
from datasets.dataset import Kind
from datasets.origins import (
    Origin,
    OriginFile,
    idx_parts,
    libsvm_parts,
    uci_parts,
    uci_whole,
)

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"
_MNIST = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
_ESL = "https://hastie.su.domains/ElemStatLearn/datasets/"
_CC_BY = "UCI Machine Learning Repository, CC BY 4.0"


@dataclass(frozen=True)
class Entry:
    """What is known of a data set. Without origins it is only found as NAME.npz in a folder."""

    kind: Kind
    sizes: Sizes
    description: str
    origin: str
    origins: tuple[Origin, ...] = ()  # the first is downloaded, all are accepted in a folder
    digest: str | None = None
    digest_factor: int = 1


def _uci(name: str, folder: str) -> OriginFile:
    return OriginFile(name, (f"{_UCI}{folder}/{name}",))


def _libsvm(name: str, checksum: str | None = None) -> OriginFile:
    # The file's own name is enough in a cache, the address may have folders.
    return OriginFile(name.rpartition("/")[2], (_LIBSVM + name,), checksum)


def _mnist(name: str, sha256: str) -> OriginFile:
    return OriginFile(name, tuple(mirror + name for mirror in _MNIST), f"sha256:{sha256}")


REGISTRY: dict[str, Entry] = {
    "satimage": Entry(
        "complete",
        Sizes(4435, 2000, 36, 6),
        "Landsat: 3 x 3 pixels in four bands; the kind of soil. Original split.",
        f"Statlog Landsat Satellite, A. Srinivasan; {_CC_BY}",
        (
            Origin(
                (_uci("sat.trn", "statlog/satimage"), _uci("sat.tst", "statlog/satimage")),
                uci_parts(None, "last", (1, 2, 3, 4, 5, 7), 36),  # there is no 6
                same_content=True,
            ),
        ),
        "85259dd74e0790261d7259e7197c2128ca8db83ddd850a5c30a582bb69f2dbac",
    ),
    "usps": Entry(
        "complete",
        Sizes(7291, 2007, 256, 10),
        "Digits on envelopes, 16 x 16 grey values in [-1, 1]. Original split.",
        "U.S. Postal Service, J. J. Hull 1994 and Y. LeCun et al. 1990; terms not stated",
        (
            # That these values are, to the last digit, those of the other files is not known.
            Origin(
                (
                    _libsvm("usps.bz2", "md5:ec16c51db3855ca6c91edd34d0e9b197"),
                    _libsvm("usps.t.bz2", "md5:8ea070ee2aca1ac39742fdd1ef5ed118"),
                ),
                libsvm_parts(range(1, 11), 256),
            ),
            Origin(
                (
                    OriginFile("zip.train.gz", (f"{_ESL}zip.train.gz",)),
                    OriginFile("zip.test.gz", (f"{_ESL}zip.test.gz",)),
                ),
                uci_parts(None, "first", range(10), 256, "float32"),
                same_content=True,
            ),
        ),
        "d39b5fd057f85d5e16efbb54aaeda020954a167e962ac1ea7ed716c28e05743a",
        1000,
    ),
    "pendigits": Entry(
        "complete",
        Sizes(7494, 3498, 16, 10),
        "Digits written with a pen: eight points of the stroke. Original split by writer.",
        f"Pen-Based Recognition of Handwritten Digits, E. Alpaydin and F. Alimoglu; {_CC_BY}",
        (
            Origin(
                (_uci("pendigits.tra", "pendigits"), _uci("pendigits.tes", "pendigits")),
                uci_parts(",", "last", range(10), 16),
                same_content=True,
            ),
        ),
        "173a5f48468c0e87e1ee5e5a471f4a514ed24a9a18a51ec7aa2a07ad18ddce1c",
    ),
    "letter": Entry(
        "complete",
        Sizes(15000, 5000, 16, 26),
        "Capital letters of 20 fonts: 16 statistics of the image. The first 15000 rows train.",
        f"Letter Recognition, D. J. Slate; {_CC_BY}",
        (
            Origin(
                (_uci("letter-recognition.data", "letter-recognition"),),
                uci_whole(string.ascii_uppercase, 16, 15000, label="first"),
                same_content=True,
            ),
        ),
        "e46795a03ea97de9dddde03cf9a18543ad51301bf336abdc940bd6bdb27bb92b",
    ),
    "protein": Entry(
        "complete",
        Sizes(17766, 6621, 357, 3),
        "Windows of 17 residues as profiles; the secondary structure. Original split.",
        "J.-Y. Wang 2002, as published by the LIBSVM site; terms not stated",
        (
            Origin(
                (_libsvm("protein.bz2"), _libsvm("protein.t.bz2")),
                libsvm_parts(range(3), 357),
            ),
        ),
    ),
    "connect4": Entry(
        "complete",
        Sizes(55000, 12557, 126, 3),
        "Connect-4 after eight moves: each of 42 cells is blank, o or x; draw, loss or win of x. "
        "A random split at the paper's sizes, because the paper's own is not public.",
        f"Connect-4, J. Tromp; {_CC_BY}",
        (
            Origin(
                (_uci("connect-4.data.Z", "connect-4"),),
                uci_whole(("draw", "loss", "win"), 42, 55000, shuffled=True, categories="box"),
                same_content=True,
            ),
        ),
        "4972311aad0c1064f0cba25ef3dcc81bfbd22024dbd773f1a4516b252a6a9f33",
    ),
    "mnist": Entry(
        "complete",
        Sizes(60000, 10000, 784, 10),
        "Handwritten digits, 28 x 28 grey values. Original split.",
        "Y. LeCun, C. Cortes and C. J. C. Burges; CC BY-SA 3.0",
        (
            Origin(
                (
                    _mnist(
                        "train-images-idx3-ubyte.gz",
                        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                    ),
                    _mnist(
                        "train-labels-idx1-ubyte.gz",
                        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                    ),
                    _mnist(
                        "t10k-images-idx3-ubyte.gz",
                        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                    ),
                    _mnist(
                        "t10k-labels-idx1-ubyte.gz",
                        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                    ),
                ),
                idx_parts,
                same_content=True,
            ),
        ),
        "70b3852a0543010f8648342bec2daa995e376ca1d2f9da881ca77ff4b86fa1dc",
    ),
    "sensit": Entry(
        "complete",
        Sizes(78823, 19705, 100, 3),
        "Vehicles heard by acoustic and seismic sensors, scaled by the publisher. Original split.",
        "SensIT Vehicle (combined), M. Duarte and Y. H. Hu 2004, LIBSVM site; terms not stated",
        (
            Origin(
                (_libsvm("vehicle/combined_scale.bz2"), _libsvm("vehicle/combined_scale.t.bz2")),
                libsvm_parts(range(1, 4), 100),
            ),
        ),
    ),
    "covertype": Entry(
        "complete",
        Sizes(500000, 81012, 54, 7),
        "Patches of forest from maps; the kind of trees. A random split at the paper's sizes, "
        "because the paper's own is not public.",
        f"Covertype, J. A. Blackard, Colorado State University; {_CC_BY}",
        (
            Origin(
                (
                    OriginFile(
                        "covtype.data.gz",
                        (
                            "https://ndownloader.figshare.com/files/5976039",
                            f"{_UCI}covtype/covtype.data.gz",
                        ),
                        "sha256:614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
                    ),
                ),
                uci_whole(range(1, 8), 54, 500000, dtype="float32", shuffled=True),
            ),
        ),
    ),
    "covertype_subset": Entry(
        "subset",
        Sizes(80000, 12962, 54, 7),
        "92962 of the 581012 rows of covertype; a random split.",
        f"Covertype, J. A. Blackard, Colorado State University; {_CC_BY}",
    ),
    "protein_val_subset": Entry(
        "subset",
        Sizes(2297, 574, 357, 3),
        "2871 of the 24387 rows of protein; a random split.",
        "protein.val, J.-Y. Wang 2002, LIBSVM site; terms not stated",
    ),
    "protein_standin_qian_sejnowski": Entry(
        "stand-in",
        Sizes(18105, 3520, 357, 3),
        "The task of protein with one-hot residues instead of profiles. Original proteins.",
        "Protein Secondary Structure, N. Qian and T. J. Sejnowski 1988, UCI; non-commercial use",
    ),
    "sensit_standin_phoneme": Entry(
        "stand-in",
        Sizes(3340, 1169, 256, 5),
        "Log-periodograms of five phonemes, in place of vehicles. Original speakers.",
        "The Elements of Statistical Learning, from TIMIT; terms not stated",
    ),
    "sensit_standin_sleep": Entry(
        "stand-in",
        Sizes(78823, 19705, 13, 5),
        "Stages of sleep, at the sizes of sensit; a random split.",
        "Penn Machine Learning Benchmarks (sleep); terms not stated",
    ),
}

DATASETS: tuple[str, ...] = tuple(REGISTRY)
