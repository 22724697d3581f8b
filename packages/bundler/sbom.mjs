/** A CycloneDX list of the libraries of a program. The same libraries make the same text. */
export function makeSbom({ name, version, license }, packages) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component({ name, version, license }, 'application') },
    components: packages.map((item) => component(item, 'library')),
  }
}

function component({ name, version, license }, type) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const licenses = typeof license === 'string' ? [{ expression: license }] : []
  return { type, 'bom-ref': purl, name, version, purl, licenses }
}
