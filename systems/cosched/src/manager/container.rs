//! Which pod, container or unit a control group is, by its path: as systemd, docker, podman, CRI-O,
//! containerd and the kubelet name theirs, with systemd or without.

use std::path::Path;

/// Characters of a container's number that tools show.
const SHORT: usize = 12;
/// Digits of the number of a container, or of a pod of podman.
const LONG: usize = 64;

/// What a path says of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    pub pod_uid: Option<String>,
    pub container_id: Option<String>,
    /// The scope, service or slice of systemd.
    pub unit: Option<String>,
}

impl Named {
    /// Of the group at `path`: the innermost container and pod.
    pub fn of(path: &Path) -> Named {
        let mut named = Named::default();
        for name in path.iter().filter_map(|name| name.to_str()) {
            if let Some(pod) = pod(name) {
                (named.pod_uid, named.container_id) = (Some(pod), None);
            }
            named.container_id = container(name).or(named.container_id);
            let is_unit = [".scope", ".service", ".slice"].iter().any(|end| name.ends_with(end));
            named.unit = is_unit.then(|| name.to_owned()).or(named.unit);
        }
        named
    }

    /// As people read it: `container 0123456789ab`, `pod UID`, both, or a unit.
    pub fn text(&self) -> Option<String> {
        let pod = self
            .pod_uid
            .as_deref()
            .map(|uid| format!("pod {}", if uid.len() == LONG { short(uid) } else { uid }));
        let container = self.container_id.as_deref().map(short);
        match (pod, container) {
            (Some(pod), Some(id)) => Some(format!("{pod} {id}")),
            (Some(pod), None) => Some(pod),
            (None, Some(id)) => Some(format!("container {id}")),
            (None, None) => self.unit.clone(),
        }
    }
}

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// `podUID`, `kubepods-CLASS-podUID.slice` with `_` for each `-` of the number, and of
/// podman's `libpod_pod_NUMBER` the number.
fn pod(name: &str) -> Option<String> {
    let name = name.strip_suffix(".slice").unwrap_or(name);
    if let Some((_, id)) = name.split_once("libpod_pod_") {
        return Some(id.to_owned()).filter(|id| is_long(id));
    }
    let uid = match name.strip_prefix("kubepods") {
        Some(rest) => rest.rsplit_once("-pod")?.1,
        None => name.strip_prefix("pod")?,
    };
    let uid = uid.replace('_', "-");
    let digits = uid.chars().filter(|letter| *letter != '-');
    let is_one =
        digits.clone().count() == 32 && digits.clone().all(|letter| letter.is_ascii_hexdigit());
    is_one.then_some(uid)
}

/// `RUNTIME-NUMBER.scope`, `RUNTIME-NUMBER`, or the number alone. What watches a container
/// (`conmon`) is beside it.
fn container(name: &str) -> Option<String> {
    let name = name.strip_suffix(".scope").unwrap_or(name);
    let (runtime, id) = name.rsplit_once('-').unwrap_or(("", name));
    (is_long(id) && !runtime.ends_with("conmon")).then(|| id.to_owned())
}

fn is_long(id: &str) -> bool {
    id.len() == LONG
        && id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const UID: &str = "6b1f0c1e-2f3a-4b5c-8d7e-9f0a1b2c3d4e";

    fn text(path: &str) -> Option<String> {
        Named::of(Path::new(&path.replace("ID", ID))).text()
    }

    #[test]
    fn containers_are_named_as_each_runtime_writes_them() {
        let container = Some("container 0123456789ab".to_owned());
        for path in [
            "/system.slice/docker-ID.scope",
            "/docker/ID",
            "/docker/ID/init",
            "/machine.slice/libpod-ID.scope",
            "/machine.slice/libpod-ID.scope/container",
            "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope",
            "/libpod_parent/libpod-ID",
            "/system.slice/nerdctl-ID.scope",
            "/sys/fs/cgroup/unified/machine.slice/crio-ID.scope",
        ] {
            assert_eq!(text(path), container, "{path}");
        }
        assert_eq!(
            text("/machine.slice/libpod-conmon-ID.scope"),
            Some(format!("libpod-conmon-{ID}.scope")),
            "what watches a container"
        );
    }

    #[test]
    fn pods_are_named_with_and_without_systemd() {
        let unit = UID.replace('-', "_");
        let both = Some(format!("pod {UID} 0123456789ab"));
        let slice =
            format!("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{unit}.slice");
        assert_eq!(text(&slice), Some(format!("pod {UID}")));
        assert_eq!(text(&format!("{slice}/cri-containerd-ID.scope")), both);
        assert_eq!(text(&format!("/kubepods.slice/kubepods-pod{unit}.slice/crio-ID.scope")), both);
        assert_eq!(text(&format!("/kubepods/besteffort/pod{UID}/ID")), both);
        // A pod that the kubelet reads from a file has a number without dashes.
        let fixed = UID.replace('-', "");
        assert_eq!(
            text(&format!("/kubepods/pod{fixed}/ID")),
            Some(format!("pod {fixed} 0123456789ab"))
        );
        assert_eq!(
            text("/machine.slice/machine-libpod_pod_ID.slice/libpod-ID.scope"),
            Some("pod 0123456789ab 0123456789ab".to_owned())
        );
        // A node in a container: its pods are not the container's.
        assert_eq!(
            text(&format!("/docker/ID/kubelet/kubepods/pod{UID}")),
            Some(format!("pod {UID}"))
        );
    }

    #[test]
    fn what_is_neither_is_its_unit_or_nothing() {
        assert_eq!(text("/system.slice/nginx.service"), Some("nginx.service".to_owned()));
        assert_eq!(
            text("/user.slice/user-7.slice/session-2.scope"),
            Some("session-2.scope".into())
        );
        for path in ["/", "/mine", "/podium/x", "/docker/short", "/kubepods/burstable"] {
            assert_eq!(text(path), None, "{path}");
        }
    }
}
