fn main() {
    for path in std::env::args().skip(1) {
        let t = std::time::Instant::now();
        let mut source = impel_geometry::import_file(path.as_ref()).unwrap_or_else(|e| panic!("{e}"));
        println!("{} {} tris {} verts radius {} import {:?}", source.name, source.triangle_count(), source.vertices.len(), source.radius_about(source.mean_vertex()), t.elapsed());
        let t = std::time::Instant::now();
        let mesh = impel_geometry::process(&source, &Default::default(), &|_| {}).unwrap_or_else(|e| panic!("{e}"));
        println!("process {:?} bounds {:?} grid {:?}", t.elapsed(), mesh.bounds, mesh.grid);
        for lod in &mesh.lods { println!("{lod:?} {:.1}", lod.triangle_count as f32 / lod.meshlet_count as f32); }
        println!("no cone {} of {}", mesh.meshlets.iter().filter(|m| m.cone[3] == 127).count(), mesh.meshlets.len());
        source.name.clear();
    }
}
