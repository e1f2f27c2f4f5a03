use hyperslab::{
    File, Selection,
    select::{Dim, Slab},
};
use std::time::Instant;
fn slab(r: &[(u64, u64)]) -> Selection {
    Selection::Slab(Slab(r.iter().map(|&(s, c)| Dim { start: s, step: 1, count: c }).collect()))
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[3].parse().unwrap();
    let f = File::open(&a[2]).unwrap();
    let name = f.root().names().unwrap().into_iter().next().unwrap();
    let d = f.dataset(&name).unwrap();
    let mut x = 88172645463325252u64;
    let mut rnd = move |m: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % m
    };
    let es = d.element_size() as u64;
    let t = Instant::now();
    match a[1].as_str() {
        "chunks" => {
            let per = d.chunk_shape().unwrap()[0];
            let mut buf = vec![0u8; (per * es) as usize];
            let chunks = d.shape()[0] / per;
            for _ in 0..n {
                let c = rnd(chunks);
                let mut s: Vec<(u64, u64)> = vec![(c * per, per)];
                for &l in &d.shape()[1..] {
                    s.push((0, l));
                }
                buf.resize((s.iter().map(|x| x.1).product::<u64>() * es) as usize, 0);
                d.read_into(&slab(&s), &mut buf).unwrap();
            }
        }
        "one" => {
            let mut buf = vec![0u8; es as usize];
            for _ in 0..n {
                d.read_into(&slab(&d.shape().iter().map(|_| (3, 1)).collect::<Vec<_>>()), &mut buf).unwrap();
            }
        }
        "box" => {
            let b: Vec<u64> = a[4].split(',').map(|v| v.parse().unwrap()).collect();
            let mut buf = vec![0u8; (b.iter().product::<u64>() * es) as usize];
            for _ in 0..n {
                let s: Vec<(u64, u64)> =
                    b.iter().zip(d.shape()).map(|(&b, &l)| (rnd(l - b + 1), b)).collect();
                d.read_into(&slab(&s), &mut buf).unwrap();
            }
        }
        "plane" => {
            let ax: usize = a[4].parse().unwrap();
            let mut s: Vec<(u64, u64)> = d.shape().iter().map(|&l| (0, l)).collect();
            s[ax] = (d.shape()[ax] / 2, 1);
            let mut buf = vec![0u8; (s.iter().map(|x| x.1).product::<u64>() * es) as usize];
            for _ in 0..n {
                d.read_into(&slab(&s), &mut buf).unwrap();
            }
        }
        "list" => {
            let mut k = 0u64;
            for _ in 0..n {
                d.visit_chunks(&mut |_, _| {
                    k += 1;
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap();
            }
            println!("{k} chunks");
        }
        _ => panic!(),
    }
    println!("{} {:?} each", a[1], t.elapsed() / n as u32);
}
