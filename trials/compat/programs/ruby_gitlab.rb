# Tasks with the gem gitlab.
require 'gitlab'

API = Gitlab.client(endpoint: "#{ENV.fetch('URL')}/api/v4", private_token: ENV.fetch('TOKEN'))
ADMINISTRATOR = Gitlab.client(endpoint: "#{ENV.fetch('URL')}/api/v4", private_token: ENV.fetch('ADMIN_TOKEN'))
PROJECT = ENV.fetch('PROJECT_PATH')

def check(holds) = holds || raise('it does not hold')

def projects
  made = API.create_project("ruby-#{ENV.fetch('PROJECT')}")
  API.edit_project(made.id, description: 'Edited')
  check(API.project(made.path_with_namespace).description == 'Edited')
  check(API.projects(owned: true).auto_paginate.map(&:id).include?(made.id))
  API.delete_project(made.id)
end

def files
  API.create_file(PROJECT, 'a/b.txt', 'main', "one\n", 'Add')
  API.edit_file(PROJECT, 'a/b.txt', 'main', "two\n", 'Edit')
  check(API.file_contents(PROJECT, 'a/b.txt', 'main') == "two\n")
  check(API.tree(PROJECT, path: 'a').first.name == 'b.txt')
  API.remove_file(PROJECT, 'a/b.txt', 'main', 'Remove')
end

def commits
  actions = [{ action: 'create', file_path: 'c.txt', content: 'c' }]
  commit = API.create_commit(PROJECT, 'main', 'Add', actions)
  check(API.commit_diff(PROJECT, commit.id).first.new_path == 'c.txt')
  API.create_commit_comment(PROJECT, commit.id, 'Well done')
  check(API.commit_comments(PROJECT, commit.id).first.note == 'Well done')
  API.update_commit_status(PROJECT, commit.id, 'running', name: 'build')
  API.update_commit_status(PROJECT, commit.id, 'success', name: 'build')
  check(API.commit_status(PROJECT, commit.id).first.status == 'success')
  check(API.pipelines(PROJECT).first.status == 'success')
end

def submodules
  sha = API.commit(PROJECT, 'main').id
  API.edit_submodule(PROJECT, 'lib', branch: 'main', commit_sha: sha, commit_message: 'Move')
  check(API.tree(PROJECT).auto_paginate.find { |each| each.path == 'lib' }.id == sha)
end

def references
  API.create_branch(PROJECT, 'topic', 'main')
  API.protect_branch(PROJECT, 'topic')
  check(API.branch(PROJECT, 'topic').protected)
  API.unprotect_branch(PROJECT, 'topic')
  API.delete_branch(PROJECT, 'topic')
  API.create_tag(PROJECT, 'v1', 'main', 'One')
  API.create_project_release(PROJECT, name: 'One', tag_name: 'v1', description: 'First')
  check(API.project_release(PROJECT, 'v1').name == 'One')
end

def administration
  name = "ruby#{ENV.fetch('PROJECT')}"
  user = ADMINISTRATOR.create_user("#{name}@example.com", 'long enough 8', name, name: name)
  API.add_team_member(PROJECT, user.id, 30)
  check(API.team_members(PROJECT).length == 2)
  hook = API.add_project_hook(PROJECT, 'http://127.0.0.1:1/', push_events: 1)
  API.delete_project_hook(PROJECT, hook.id)
end

send(ARGV.fetch(0))
