import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const { URL: url, TOKEN: token, PROJECT: project, PROJECT_PATH: path } = process.env
const server = new URL('node_modules/@zereight/mcp-gitlab/build/index.js', import.meta.url).pathname
const env = {
  ...process.env,
  GITLAB_PERSONAL_ACCESS_TOKEN: token,
  GITLAB_API_URL: `${url}/api/v4`,
  GITLAB_TOOLSETS: 'all',
  USE_PIPELINE: 'true',
  GITLAB_DISABLE_VERSION_CHECK: 'true',
}
const client = new Client({ name: 'compat', version: '1' })
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: [server], env, stderr: 'ignore' }),
)

/** Returns the answer of a tool; throws its error text on failure. */
async function call(name, args) {
  const { isError, content } = await client.callTool({ name, arguments: { project_id: project, ...args } })
  if (isError) throw new Error(`${name}: ${content[0].text}`)
  return content[0].text
}

const tasks = {
  async files() {
    await call('create_or_update_file', {
      file_path: 'a.txt',
      content: 'a',
      commit_message: 'Add',
      branch: 'main',
    })
    const files = [{ file_path: 'b.txt', content: 'b' }]
    await call('push_files', { branch: 'main', commit_message: 'Add', files })
    assert.match(await call('get_file_contents', { file_path: 'a.txt', ref: 'main' }), /a\.txt/)
    assert.match(await call('get_repository_tree', {}), /b\.txt/)
  },
  async commits() {
    await call('create_branch', { branch: 'topic', ref: 'main' })
    assert.match(await call('list_commits', {}), /Add files/)
    await call('get_commit_diff', { sha: 'main' })
    assert.match(await call('get_branch_diffs', { from: 'main', to: 'topic' }), /diffs/)
  },
  async projects() {
    assert.match(await call('get_project', {}), new RegExp(path))
    assert.match(await call('list_projects', { membership: true }), new RegExp(path))
    await call('search_repositories', { search: path.split('/')[1] })
  },
  async releases() {
    await call('create_release', { tag_name: 'v1', ref: 'main', name: 'One', description: 'First' })
    assert.match(await call('list_releases', {}), /First/)
    assert.match(await call('list_pipelines', {}), /^\[/)
  },
}
try {
  await tasks[process.argv[2]]()
} finally {
  await client.close()
}
