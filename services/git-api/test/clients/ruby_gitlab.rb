# Runs steps with the gem gitlab and prints what each returned, or which error it raised, as JSON.
require 'gitlab'
require 'json'

GIVEN = JSON.parse($stdin.read)
STEPS = {}
PROJECT = GIVEN['project']

def client(who)
  Gitlab.client(endpoint: "#{GIVEN['url']}/api/v4", private_token: GIVEN['tokens'].fetch(who, who))
end

def step(name)
  STEPS[name] = yield
rescue Gitlab::Error::ResponseError => e
  STEPS[name] = { error: e.class.name, code: e.response_status, message: e.message[/message: (.*)\. Request/m, 1] }
end

def shown(item, *names)
  names.to_h { |name| [name, item.to_h[name]] }
end

developer = client('developer')
owner = client('owner')

step('user') { developer.user.username }
step('a bad token') { client('glpat-unknown').user }
step('a project that nobody has') { developer.project('olga/nothing') }
step('commits by page') do
  page = developer.commits(PROJECT, ref_name: 'main', per_page: 2)
  { ids: page.map(&:id), next: page.next_page.map(&:id) }
end
step('all commits') { developer.commits(PROJECT, ref_name: 'main', per_page: 1).auto_paginate.map(&:id) }
step('a commit of two actions with different fields') do
  actions = [
    { action: 'update', file_path: 'bin.dat', content: "text & more=1\n" },
    { action: 'move', file_path: 'moved.txt', previous_path: 'src/b c.txt' }
  ]
  made = developer.create_commit(PROJECT, 'ruby', "From Ruby\n", actions, start_branch: 'main')
  { **shown(made, 'title', 'parent_ids'),
    diff: developer.commit_diff(PROJECT, made.id).map { |each| [each.old_path, each.new_path] } }
end
step('further actions of every kind') do
  actions = [
    { action: 'create', file_path: 'ü.txt', content: 'ä', execute_filemode: true },
    { action: 'create', file_path: 'bytes', content: 'AP+A', encoding: 'base64' },
    { action: 'delete', file_path: 'moved.txt' },
    { action: 'chmod', file_path: 'ü.txt', execute_filemode: false }
  ]
  made = developer.create_commit(PROJECT, 'ruby', 'm', actions, author_name: 'Rüdi', author_email: 'r@example.com')
  { **shown(made, 'author_name', 'author_email'),
    diff: developer.commit_diff(PROJECT, made.id).map { |each| [each.new_path, each.b_mode] } }
end
step('an empty commit') do
  made = developer.create_commit(PROJECT, 'ruby', 'Nothing', [], allow_empty: true)
  { title: made.title, diff: developer.commit_diff(PROJECT, made.id).length }
end
step('a commit without actions') { developer.create_commit(PROJECT, 'ruby', 'Nothing', []) }
step('a commit that does not fit') do
  developer.create_commit(PROJECT, 'main', 'm', [{ action: 'update', file_path: 'nothing', content: 'x' }])
end
step('statuses') do
  sha = GIVEN['commits']['third']
  ids = %w[pending running success].map do |state|
    developer.update_commit_status(PROJECT, sha, state, name: 'rb/build', ref: 'main', description: 'ä & b').id
  end
  { records: ids.uniq.length,
    listed: developer.commit_status(PROJECT, sha).map { |each| shown(each, 'name', 'status', 'description') } }
end
step('a status of an unknown state') { developer.update_commit_status(PROJECT, 'main', 'done') }
step('comments') do
  sha = GIVEN['commits']['side']
  developer.create_commit_comment(PROJECT, sha, 'On a line', path: 'side.txt', line: 1, line_type: 'new')
  developer.commit_comments(PROJECT, sha).map { |each| shown(each, 'note', 'path', 'line') }
end
step('cherry-pick') { developer.cherry_pick_commit(PROJECT, GIVEN['commits']['side'], 'ruby').title }
step('protected branches') do
  owner.post('/projects/olga%2F' + PROJECT.split('/').last + '/protected_branches', body: { name: 'release/*' })
  owner.protected_branches(PROJECT).map(&:name)
end
step('members') { owner.all_members(PROJECT).to_h { |each| [each.username, each.access_level] } }
step('releases') do
  made = developer.create_project_release(PROJECT, tag_name: 'rb-1', ref: 'main', name: 'Ruby', description: 'ä & b')
  link = developer.create_project_release_link(PROJECT, 'rb-1', name: 'app', url: 'https://example.com/app')
  listed = developer.project_release_links(PROJECT, 'rb-1').map(&:id)
  developer.delete_project_release(PROJECT, 'rb-1')
  { **shown(made, 'name', 'description'), linked: listed == [link.id], left: developer.project_releases(PROJECT).length }
end
step('a changed release') do
  developer.create_project_release(PROJECT, tag_name: 'rb-2', ref: 'main', description: 'old')
  changed = developer.update_project_release(PROJECT, 'rb-2', description: 'new & ä')
  developer.delete_project_release(PROJECT, 'rb-2')
  changed.description
end
step('environments') do
  made = developer.create_environment(PROJECT, 'rb-qa', external_url: 'https://qa.example.com')
  developer.edit_environment(PROJECT, made.id, external_url: 'https://qa2.example.com')
  found = shown(developer.environment(PROJECT, made.id), 'slug', 'external_url')
  developer.stop_environment(PROJECT, made.id)
  listed = developer.environments(PROJECT, states: 'stopped').map(&:name)
  developer.delete_environment(PROJECT, made.id)
  { **found, listed: listed, left: developer.environments(PROJECT).length }
end
step('deployments') do
  # The gem reads deployments and has no method that creates a deployment.
  fields = { environment: 'rb-prod', sha: GIVEN['commits']['third'], ref: 'main', tag: false, status: 'success' }
  made = developer.post("/projects/olga%2F#{PROJECT.split('/').last}/deployments", body: fields)
  listed = developer.deployments(PROJECT, environment: 'rb-prod').auto_paginate.map(&:id)
  { status: developer.deployment(PROJECT, made.id).status, listed: listed == [made.id] }
end
step('pipelines') { developer.pipelines(PROJECT, ref: 'main').map(&:status) }
step('users') { client('admin').users(username: 'dora').map(&:username) }

puts JSON.generate(STEPS)
