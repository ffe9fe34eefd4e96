//! Tenants: each can be named by a request, and by a path where the binding has paths.

use gateway_domain::{Tenant, ids::id_fault};

use crate::fault::Fault;

pub(super) fn resolve(
    names: Option<Vec<String>>,
    reserved: &[&str],
    faults: &mut Vec<Fault>,
) -> Option<Vec<Tenant>> {
    let names = names?;
    for (index, name) in names.iter().enumerate() {
        if let Some(fault) = fault(name, &names[..index], reserved) {
            faults.push(Fault::of(format!("tenants.names[{index}]"), fault));
        }
    }
    Some(names.into_iter().map(Tenant::new).collect())
}

fn fault(name: &str, before: &[String], reserved: &[&str]) -> Option<String> {
    if let Some(fault) = id_fault(name) {
        return Some(fault.to_owned());
    }
    if reserved.contains(&name) {
        return Some(format!(
            "is {name:?}, with which paths of the gateway begin; choose another name"
        ));
    }
    before
        .iter()
        .any(|other| other == name)
        .then(|| format!("is {name:?}, which stands in the list already"))
}
