/** Creates a CycloneDX list of the libraries of a program. The same libraries result in the same text. */
export function makeSbom({ name, version, license }, packages) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: npmComponent({ name, version, license }, 'application') },
    components: packages.map((item) => npmComponent(item)),
  }
}

/** Returns the list with the components that it does not have yet. */
export function withComponents(sbom, components) {
  const listed = new Set(sbom.components.map(({ purl }) => purl))
  const added = new Map(components.map((item) => [item.purl, item]))
  return {
    ...sbom,
    components: [...sbom.components, ...[...added.values()].filter((item) => !listed.has(item.purl))],
  }
}

export function npmComponent({ name, version, license }, type = 'library') {
  const licenses = typeof license === 'string' ? [{ expression: license }] : []
  return component({ type, name, version, licenses }, `pkg:npm/${name.replace('@', '%40')}@${version}`)
}

export const nodeComponent = (version) =>
  component({ type: 'platform', name: 'node', version }, `pkg:generic/node@${version}`)

/**
 * Returns the component of a Debian package.
 *
 * @param distribution such as `debian-12`
 */
export function debianComponent({ name, version, architecture }, distribution) {
  // In addresses of packages, a colon is not encoded.
  const versionText = encodeURIComponent(version).replaceAll('%3A', ':')
  const purl = `pkg:deb/debian/${name}@${versionText}?arch=${architecture}&distro=${distribution}`
  return component({ type: 'library', name, version }, purl)
}

const component = ({ type, ...described }, purl) => ({ type, 'bom-ref': purl, ...described, purl })
