import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'

export const goModules: Driver = {
  tool: 'Go modules',
  debian: ['golang-go'],
  tasks: [
    {
      title: 'builds a dependency by its version, straight from git',
      setting: '`GOPRIVATE`, `GOINSECURE`, and `insteadOf` of git where the address is not HTTPS',
      run: async (work) => {
        const name = 'lab.example.com/lab/tried.git'
        const project = await work.project({
          'go.mod': `module ${name}\n`,
          'tried.go': 'package tried\n\nfunc Seven() int { return 7 }\n',
        })
        await work.api('POST', `/projects/${project.id}/repository/tags`, { tag_name: 'v1.0.0', ref: 'main' })
        await work.write({
          '.gitconfig': `[url "${project.remote}"]\n  insteadOf = https://${name.replace('.git', '')}\n`,
          'app/go.mod': `module app\n\nrequire ${name} v1.0.0\n`,
          'app/main.go': `package main\n\nimport tried "${name}"\n\nfunc main() { println(tried.Seven()) }\n`,
        })
        const env = {
          GOPRIVATE: 'lab.example.com',
          GOINSECURE: 'lab.example.com',
          GOFLAGS: '-mod=mod',
          GOPATH: join(work.folder, 'go'),
          GOCACHE: '/tmp/switchyard-compat-go',
          CGO_ENABLED: '0',
        }
        const cwd = join(work.folder, 'app')
        expect(await work.run('/usr/bin/go', ['run', '.'], { cwd, env })).toContain('7')
        await work.run('/usr/bin/go', ['clean', '-modcache'], { cwd, env })
      },
    },
  ],
}
