import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'

export const gitRemoteGcrypt: Driver = {
  tool: 'git-remote-gcrypt',
  debian: ['git-remote-gcrypt', 'gnupg'],
  tasks: [
    {
      title: 'pushes encrypted, twice, and clones',
      run: async (work) => {
        const { remote } = await work.project(null)
        const env = { GNUPGHOME: join(work.folder, 'gnupg') }
        const git = (cwd: string, ...args: string[]) =>
          work.run('git', ['-c', 'gcrypt.participants=lab@example.com', ...args], { env, cwd })
        await work.write({ 'gnupg/gpg.conf': 'batch\n', 'source/a.txt': 'one\n' })
        await work.run('chmod', ['700', 'gnupg'])
        const key = [
          '--passphrase',
          '',
          '--pinentry-mode',
          'loopback',
          '--quick-generate-key',
          'lab@example.com',
        ]
        await work.run('gpg', ['--batch', ...key], { env })
        const source = join(work.folder, 'source')
        await git(source, 'init', '--quiet', '--initial-branch', 'main')
        for (const text of ['one\n', 'two\n']) {
          await work.write({ 'a.txt': text }, source)
          await git(source, 'add', '.')
          await git(source, 'commit', '--quiet', '--message', text)
          await git(source, 'push', '--quiet', '--force', `gcrypt::${remote}`, 'main')
        }
        await git(work.folder, 'clone', '--quiet', '--branch', 'main', `gcrypt::${remote}`, 'copy')
        expect(await readFile(join(work.folder, 'copy/a.txt'), 'utf8')).toBe('two\n')
        await work.run('gpgconf', ['--kill', 'all'], { env })
      },
    },
  ],
}
