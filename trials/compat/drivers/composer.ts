import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'

export const composer: Driver = {
  tool: 'composer',
  debian: ['composer'],
  tasks: [
    {
      title: "installs a version by the driver for GitLab's API",
      setting: '`gitlab-domains` has the address, `secure-http` is off where it is not HTTPS',
      run: async (work) => {
        const project = await work.project({ 'composer.json': JSON.stringify({ name: 'lab/tried' }) })
        await work.api('POST', `/projects/${project.id}/repository/tags`, { tag_name: 'v1.2.0', ref: 'main' })
        const { host } = new URL(work.url)
        const config = {
          'gitlab-domains': [host],
          'gitlab-token': { [host]: work.token },
          'secure-http': false,
        }
        const repositories = [
          { type: 'gitlab', url: `${work.url}/${project.path}.git` },
          { packagist: false },
        ]
        await work.write({
          'app/composer.json': JSON.stringify({ repositories, config, require: { 'lab/tried': '^1.0' } }),
        })
        const env = { COMPOSER_ALLOW_SUPERUSER: '1', COMPOSER_HOME: work.folder }
        const options = ['--no-interaction', '--prefer-dist']
        await work.run('/usr/bin/composer', ['install', ...options], { cwd: join(work.folder, 'app'), env })
        const lock = JSON.parse(await readFile(join(work.folder, 'app/composer.lock'), 'utf8'))
        expect(lock.packages).toMatchObject([{ name: 'lab/tried', version: 'v1.2.0' }])
      },
    },
  ],
}
