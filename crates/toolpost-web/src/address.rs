//! Which addresses are public: those that anybody on the internet could reach as well.
//!
//! Whether another one may be reached all the same is for the caller to say.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotPublic {
    /// This machine: `127.0.0.1`, `::1`, `0.0.0.0`.
    Loopback,
    /// A private network: `10.0.0.0/8`, `192.168.0.0/16`, `fc00::/7`.
    Private,
    /// The local link, where cloud machines find their credentials: `169.254.169.254`, `fe80::/10`.
    LinkLocal,
    /// Many at once: multicast and broadcast.
    Multicast,
    /// Set aside for documentation, tests, carriers or the future.
    Reserved,
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotPublic::Loopback => "an address of this machine",
            NotPublic::Private => "an address of a private network",
            NotPublic::LinkLocal => "a link-local address",
            NotPublic::Multicast => "a multicast address",
            NotPublic::Reserved => "a reserved address",
        })
    }
}

/// Why an address is not public; none if it is. An IPv6 address that carries one of IPv4 is judged by both.
pub fn not_public(address: IpAddr) -> Option<NotPublic> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

fn not_public_v4(address: Ipv4Addr) -> Option<NotPublic> {
    match address.octets() {
        [0 | 127, ..] => Some(NotPublic::Loopback),
        [10, ..] | [192, 168, ..] => Some(NotPublic::Private),
        [172, second, ..] if second & 0xf0 == 16 => Some(NotPublic::Private),
        [169, 254, ..] => Some(NotPublic::LinkLocal),
        [224..=239, ..] | [255, 255, 255, 255] => Some(NotPublic::Multicast),
        // Carriers, protocol assignments, documentation, old 6to4 relays, benchmarks, the future.
        [100, second, ..] if second & 0xc0 == 64 => Some(NotPublic::Reserved),
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => {
            Some(NotPublic::Reserved)
        }
        [240..=255, ..] => Some(NotPublic::Reserved),
        _ => None,
    }
}

fn not_public_v6(address: Ipv6Addr) -> Option<NotPublic> {
    let segments = address.segments();
    let last_four = || {
        let [.., high, low] = segments;
        v4(high, low)
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Some(NotPublic::Loopback),
        // Mapped, compatible and translated addresses of IPv4 are those addresses.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => {
            not_public_v4(last_four()).or(is_compatible(&segments).then_some(NotPublic::Reserved))
        }
        // NAT64: a gateway turns it into that address of IPv4.
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => not_public_v4(last_four()),
        // NAT64 of a local network, where the place of the address of IPv4 is not known.
        [0x64, 0xff9b, 1, ..] => Some(NotPublic::Private),
        // 6to4 and Teredo lead to an address of IPv4 in the middle or, inverted, at the end.
        [0x2002, high, low, ..] => not_public_v4(v4(high, low)),
        [0x2001, 0, server, more, ..] => {
            let [.., high, low] = segments;
            not_public_v4(v4(server, more)).or_else(|| not_public_v4(v4(!high, !low)))
        }
        [first, ..] if first & 0xfe00 == 0xfc00 => Some(NotPublic::Private),
        [first, ..] if first & 0xffc0 == 0xfe80 => Some(NotPublic::LinkLocal),
        // Site-local, as it was once.
        [first, ..] if first & 0xffc0 == 0xfec0 => Some(NotPublic::Private),
        [first, ..] if first & 0xff00 == 0xff00 => Some(NotPublic::Multicast),
        // ISATAP: the interface is an address of IPv4.
        [.., 0 | 0x200, 0x5efe, _, _] => not_public_v4(last_four()).or_else(|| global_unicast(&segments)),
        _ => global_unicast(&segments),
    }
}

/// Only 2000::/3 is given out, but for what is set aside in it.
fn global_unicast(segments: &[u16; 8]) -> Option<NotPublic> {
    match segments {
        // Protocol assignments, benchmarks, ORCHID, documentation, segment routing.
        [0x2001, second, ..] if *second < 0x200 => Some(NotPublic::Reserved),
        [0x2001, 0xdb8, ..] | [0x5f00, ..] => Some(NotPublic::Reserved),
        [0x3fff, second, ..] if *second < 0x1000 => Some(NotPublic::Reserved),
        [first, ..] if first & 0xe000 == 0x2000 => None,
        _ => Some(NotPublic::Reserved),
    }
}

fn is_compatible(segments: &[u16; 8]) -> bool {
    segments[..6].iter().all(|segment| *segment == 0)
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &[&str], expected: Option<NotPublic>) {
        for address in addresses {
            assert_eq!(not_public(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn addresses_are_judged() {
        check(
            &["1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.0.1.1"],
            None,
        );
        check(
            &[
                "2606:4700::1111",
                "2a00:1450:4001::1",
                "64:ff9b::8.8.8.8",
                "::ffff:8.8.8.8",
                "2002:808:808::1",
                "2001:4860:4860::8888",
            ],
            None,
        );
        check(
            &[
                "127.0.0.1",
                "127.255.255.254",
                "0.0.0.0",
                "0.1.2.3",
                "::",
                "::1",
                "::ffff:127.0.0.1",
                "::127.0.0.1",
                "::ffff:0:127.0.0.1",
                "64:ff9b::7f00:1",
                "2002:7f00:1::",
                "2001:0:808:808::80ff:fffe",
                "2a00:1450::5efe:127.0.0.1",
            ],
            Some(NotPublic::Loopback),
        );
        check(
            &[
                "10.0.0.1",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "fc00::1",
                "fd12:3456::1",
                "fec0::1",
                "::ffff:10.0.0.1",
                "64:ff9b::a00:1",
                "64:ff9b:1::8.8.8.8",
                "2002:a00:1::",
            ],
            Some(NotPublic::Private),
        );
        check(
            &["169.254.169.254", "fe80::1", "febf::1", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254"],
            Some(NotPublic::LinkLocal),
        );
        check(&["224.0.0.1", "255.255.255.255", "ff02::1"], Some(NotPublic::Multicast));
        check(
            &[
                "100.64.0.1",
                "192.0.2.1",
                "198.18.0.1",
                "198.51.100.7",
                "203.0.113.9",
                "240.0.0.1",
                "2001:db8::1",
                "2001:2::1",
                "3fff::1",
                "100::1",
                "4000::1",
                "::8.8.8.8",
            ],
            Some(NotPublic::Reserved),
        );
    }
}
