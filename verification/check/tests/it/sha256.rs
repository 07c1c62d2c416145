//! Tests of SHA-256 with the examples of the standard.

#[path = "../../src/sha256.rs"]
mod digest;

#[test]
fn hashes_agree_with_the_examples_of_the_standard() {
    let examples = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
    ];
    assert!(examples.iter().all(|(text, hash)| digest::sha256(text) == *hash));
}

/// Messages whose length is near the end of a block, so that the padding needs another block.
#[test]
fn padding_near_the_end_of_a_block_is_correct() {
    let hash = |length: usize| digest::sha256(&"a".repeat(length));
    assert_eq!(hash(55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    assert_eq!(hash(56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    assert_eq!(hash(64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}
