// The Prisma client needs its CLI and TypeScript only as optional peers; with them every image would carry 200 MB.
const readPackage = (manifest) =>
  manifest.name === '@prisma/client'
    ? { ...manifest, peerDependencies: {}, peerDependenciesMeta: {} }
    : manifest

module.exports = { hooks: { readPackage } }
