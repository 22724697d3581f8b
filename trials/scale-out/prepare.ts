// Installs and fetches what the trial runs, in the network of this machine: the trial has one of its own,
// without a way out.
import { launchBrowser } from '@switchyard/testing'
import { gatewayTools } from '../../ops/gateway/test/support/gateway.js'
import { findRecentNginx } from '../../packages/local-servers/src/tools/servers.js'
import { ensureDebianPackages } from '../support/debian-packages.js'

if (process.getuid?.() !== 0) throw new Error('this trial needs root on Debian 12')
// Patroni's client of etcd imports `idna` where python3-openssl is installed, and no package of Debian
// depends on it.
await ensureDebianPackages({
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  patroni: '/usr/bin/patroni',
  'python3-idna': '/usr/lib/python3/dist-packages/idna/__init__.py',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  keepalived: '/usr/sbin/keepalived',
  'redis-server': '/usr/bin/redis-server',
  'redis-sentinel': '/usr/bin/redis-sentinel',
  curl: '/usr/bin/curl',
  openssl: '/usr/bin/openssl',
  iproute2: '/usr/sbin/ip',
  procps: '/usr/sbin/sysctl',
})
await findRecentNginx(gatewayTools, console.info)
// This installs the browser where it is missing.
await (await launchBrowser())?.close()
