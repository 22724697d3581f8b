// Installs and downloads the programs of the trial in the network of this machine, because the trial has its
// own network without a way out.
import { launchBrowser } from '@switchyard/testing'
import { gatewayTools } from '../../ops/gateway/test/support/gateway.js'
import { findRecentNginx } from '../../packages/local-servers/src/tools/servers.js'
import { ensureDebianPackages } from '../support/debian-packages.js'

if (process.getuid?.() !== 0) throw new Error('this trial needs root on Debian 12')
// Patroni's etcd client imports `idna` when python3-openssl is installed, and no Debian package depends on
// it.
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
// Installs the browser if it is missing.
await (await launchBrowser())?.close()
