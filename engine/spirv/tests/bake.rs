//! Baked interfaces: round trip, staleness, damage, falling back to the module.

mod common;

use impel_spirv::{Error, LoadedFrom, bake, baked_path, load, reflect, spirv_hash, unbake};

#[test]
fn every_interface_survives() {
    for (file, spirv) in common::all_modules() {
        let Ok(interface) = reflect(&spirv) else {
            continue;
        };
        let baked = bake(&interface, spirv_hash(&spirv)).unwrap();
        assert_eq!(
            unbake(&baked, Some(spirv_hash(&spirv)), &file).unwrap(),
            interface,
            "{file}"
        );
    }
}

#[test]
fn staleness_and_damage_are_told_apart() {
    let spirv = common::bytes("active.comp");
    let baked = bake(&reflect(&spirv).unwrap(), spirv_hash(&spirv)).unwrap();
    let message = |bytes: &[u8], hash| unbake(bytes, hash, "a.refl").unwrap_err().to_string();
    assert!(message(&baked, Some(1)).contains("stale"));
    assert!(unbake(&baked, None, "a.refl").is_ok());
    // Every byte counts, and every truncation is seen.
    for at in 0..baked.len() {
        let mut damaged = baked.clone();
        damaged[at] ^= 0x10;
        let outcome = unbake(&damaged, Some(spirv_hash(&spirv)), "a.refl");
        assert!(matches!(outcome, Err(Error::Baked { .. })), "byte {at}");
        assert!(
            unbake(&baked[..at], Some(spirv_hash(&spirv)), "a.refl").is_err(),
            "length {at}"
        );
    }
    let mut longer = baked.clone();
    longer.push(0);
    assert!(message(&longer, None).contains("damaged"));
    let mut schema = baked;
    schema[8] = 99;
    assert!(message(&schema, None).contains("schema 99"));
    assert!(message(b"something else", None).contains("magic"));
}

#[test]
fn load_falls_back_to_the_module() {
    let folder = std::env::temp_dir().join(format!("impel-spirv-bake-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, spirv) = (folder.join("shader.comp.spv"), common::bytes("active.comp"));
    let refl = baked_path(&file);
    assert_eq!(refl, folder.join("shader.comp.refl"));
    assert!(matches!(load(&file), Err(Error::File { .. })));
    std::fs::write(&file, &spirv).unwrap();
    let interface = reflect(&spirv).unwrap();
    assert_eq!(
        load(&file).unwrap(),
        (interface.clone(), LoadedFrom::Module(None))
    );
    std::fs::write(&refl, bake(&interface, spirv_hash(&spirv)).unwrap()).unwrap();
    assert_eq!(load(&file).unwrap(), (interface.clone(), LoadedFrom::Baked));
    std::fs::write(&refl, bake(&interface, 7).unwrap()).unwrap();
    let (found, from) = load(&file).unwrap();
    assert_eq!(found, interface);
    assert!(matches!(
        from,
        LoadedFrom::Module(Some(Error::Baked { .. }))
    ));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(load(&file).unwrap(), (interface, LoadedFrom::Baked));
    std::fs::remove_dir_all(&folder).unwrap();
}
