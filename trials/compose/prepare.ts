// Builds what the tests of this folder run, in the network of this machine, because the tests have their own
// network without a way out.
import { join } from 'node:path'
import { serviceNames } from '../../ops/docker/test/support/service-configs.js'
import { findOnPath } from '../../packages/local-servers/src/tools/find-on-path.js'
import { buildImages } from '../images/build-images.js'
import { buildah } from '../images/buildah.js'
import { findDockerCompose } from './docker-compose.js'
import { standIns } from './stand-ins.js'

const tools = ['podman', 'runc', 'iptables', 'ip']
const missing = tools.filter((tool) => findOnPath(tool) === null)
if (missing.length > 0)
  throw new Error(
    `apt-get install podman buildah debootstrap jq runc netavark aardvark-dns iptables iproute2`,
  )
await findDockerCompose()
const base = await buildImages(['db', 'backup', ...serviceNames])
for (const [stage, image] of standIns) {
  const given = ['--build-arg', `BASE=${base}`, '--build-arg', `STAND_IN=${stage}`, '--tag', image]
  const options = ['--isolation', 'chroot', '--layers', '--pull-never', '--format', 'docker']
  const file = join(import.meta.dirname, 'Dockerfile')
  await buildah('build', ...options, '--file', file, ...given, import.meta.dirname)
}
