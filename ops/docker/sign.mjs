// Signs images that were just built. Writes, beside the archive of each image, a signature of the archive and
// two signed attestations (in-toto): the list of libraries in the image, and its provenance (SLSA).
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { runCosign } from '../release/cosign.mjs'
import { readArguments } from '../setup/arguments.mjs'

const { operands } = readArguments(
  `node ops/docker/sign.mjs FOLDER KEY BUILDER
  FOLDER   has an archive of each image, NAME.tar from "docker save" or "buildah push … docker-archive:…"
  KEY      is a private key of cosign, whose password is in COSIGN_PASSWORD
  BUILDER  is an address that names where the images were built, such as https://ci.example.com/switchyard`,
  { operands: ['FOLDER', 'KEY', 'BUILDER'] },
)
const repository = resolve(import.meta.dirname, '../..')
const [folder, key, builder] = operands
const read = (command, args, options) =>
  execFileSync(command, args, { encoding: 'utf8', maxBuffer: 1e9, ...options })
const sha256 = (content) => createHash('sha256').update(content).digest('hex')

class Refusal extends Error {}

/** Throws a sentence for the user. */
function refuse(why) {
  throw new Refusal(why)
}

/** Unpacks an archive for `use`, which receives a function that reads one of its files. */
function withArchive(archive, use) {
  const unpacked = mkdtempSync(join(tmpdir(), 'switchyard-release-'))
  try {
    execFileSync('tar', ['-xf', archive, '-C', unpacked])
    return use(unpacked)
  } finally {
    rmSync(unpacked, { recursive: true, force: true })
  }
}

/**
 * Reads the settings of an image from its archive, and the list of libraries in the last layer that has one.
 */
const inspect = (archive) =>
  withArchive(archive, (unpacked) => {
    const [{ Config, Layers }] = JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'))
    const config = readFileSync(join(unpacked, Config), 'utf8')
    const listing = 'app/sbom.cdx.json'
    const layer = Layers.findLast((path) =>
      read('tar', ['-tf', join(unpacked, path)])
        .split('\n')
        .includes(listing),
    )
    if (!layer) refuse(`${archive} has no /app/sbom.cdx.json: it is no image of Switchyard`)
    return {
      imageId: sha256(config),
      config: JSON.parse(config),
      sbom: read('tar', ['-xOf', join(unpacked, layer), listing]),
    }
  })

/** Returns a file of the revision from which an image was built. */
function fileOf(revision, path) {
  try {
    return read('git', ['-C', repository, 'show', `${revision}:${path}`], { stdio: 'pipe' })
  } catch {
    return refuse(`this checkout has no ${path} of commit ${revision}`)
  }
}

/** Returns the predicate of SLSA's provenance, version 1. */
function provenanceOf(archive, { imageId, config, sbom }) {
  const labels = config.config.Labels
  const revision = labels['org.opencontainers.image.revision']
  const base = labels['org.opencontainers.image.base.name']
  const [, digest] = /@sha256:([\da-f]{64})$/.exec(base) ?? []
  if (!/^[\da-f]{40}$/.test(revision))
    refuse(`${archive} names no commit: build it with --build-arg REVISION=$(git rev-parse HEAD)`)
  if (!digest) refuse(`${archive} was built on ${base}, which has no digest`)
  const source = (path) => ({ name: path, digest: { sha256: sha256(fileOf(revision, path)) } })
  return {
    buildDefinition: {
      buildType: 'https://docs.docker.com/reference/dockerfile/',
      externalParameters: {
        dockerfile: 'ops/docker/Dockerfile',
        arguments: {
          SERVICE: basename(archive, '.tar'),
          VERSION: labels['org.opencontainers.image.version'],
          REVISION: revision,
          NODE_IMAGE: base,
        },
      },
      resolvedDependencies: [
        { name: 'source', digest: { gitCommit: revision } },
        { name: base, digest: { sha256: digest } },
        source('pnpm-lock.yaml'),
        source('ops/docker/Dockerfile'),
      ],
    },
    runDetails: {
      builder: { id: builder },
      metadata: { finishedOn: config.created },
      byproducts: [
        { name: 'image', digest: { sha256: imageId } },
        { name: 'sbom.cdx.json', digest: { sha256: sha256(sbom) } },
      ],
    },
  }
}

function attest(archive, type, predicate, name) {
  const work = mkdtempSync(join(tmpdir(), 'switchyard-release-'))
  const file = join(work, 'predicate.json')
  try {
    writeFileSync(file, predicate)
    const output = archive.replace(/tar$/, `${name}.json`)
    runCosign('attest-blob', key, { file: archive, output }, '--type', type, '--predicate', file)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function signAll() {
  if (!builder.includes('://'))
    refuse(`BUILDER ${builder} is no address such as https://ci.example.com/switchyard`)
  const archives = readdirSync(folder).filter((name) => name.endsWith('.tar'))
  if (archives.length === 0) refuse(`${folder} has no archive of an image`)
  for (const name of archives) {
    const archive = join(folder, name)
    const image = inspect(archive)
    const provenance = JSON.stringify(provenanceOf(archive, image))
    runCosign('sign-blob', key, { file: archive, output: `${archive}.sig` })
    attest(archive, 'cyclonedx', image.sbom, 'sbom')
    attest(archive, 'slsaprovenance1', provenance, 'provenance')
    console.log(`signed ${name}: image ${image.imageId}`)
  }
}

try {
  signAll()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(`✗ ${error.message}`)
  process.exitCode = 1
}
