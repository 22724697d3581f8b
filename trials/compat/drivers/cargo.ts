import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'

const manifest = (name: string, dependencies = '') =>
  `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n${dependencies}`

export const cargo: Driver = {
  tool: 'cargo',
  debian: ['cargo', 'rustc'],
  tasks: [
    {
      title: 'builds a git dependency by tag',
      run: async (work) => {
        const project = await work.project({
          'Cargo.toml': manifest('tried'),
          'src/lib.rs': 'pub fn seven() -> u8 { 7 }\n',
        })
        await work.api('POST', `/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'main' })
        const cwd = join(work.folder, 'app')
        await work.write({
          'app/Cargo.toml': manifest('app', `tried = { git = "${project.remote}", tag = "v1" }\n`),
          'app/src/main.rs': 'fn main() { println!("{}", tried::seven()) }\n',
        })
        const env = { CARGO_HOME: join(work.folder, 'cargo') }
        expect(await work.run('/usr/bin/cargo', ['run', '--quiet'], { cwd, env })).toMatch(/^7$/m)
        expect(await readFile(join(cwd, 'Cargo.lock'), 'utf8')).toContain('tag=v1')
      },
    },
  ],
}
