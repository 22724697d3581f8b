# Tasks with GitLab::API::v4.
use strict;
use warnings;
use GitLab::API::v4;

my %given   = (url => "$ENV{URL}/api/v4");
my $api     = GitLab::API::v4->new(%given, private_token => $ENV{TOKEN});
my $project = $ENV{PROJECT_PATH};

sub check { $_[0] or die 'it does not hold' }

my %tasks = (
    projects => sub {
        my $made = $api->create_project({ name => "perl-$ENV{PROJECT}" });
        $api->edit_project($made->{id}, { description => 'Edited' });
        check($api->project($made->{path_with_namespace})->{description} eq 'Edited');
        my $all = $api->paginator('projects', { owned => 1 })->all;
        check(grep { $_->{id} == $made->{id} } @$all);
        $api->delete_project($made->{id});
    },
    files => sub {
        $api->create_file($project, 'a/b.txt', { branch => 'main', content => "one\n", commit_message => 'Add' });
        $api->edit_file($project, 'a/b.txt', { branch => 'main', content => "two\n", commit_message => 'Edit' });
        check($api->raw_file($project, 'a/b.txt', { ref => 'main' }) eq "two\n");
        check($api->tree($project, { path => 'a' })->[0]{name} eq 'b.txt');
        $api->delete_file($project, 'a/b.txt', { branch => 'main', commit_message => 'Remove' });
    },
    commits => sub {
        my $action = { action => 'create', file_path => 'c.txt', content => 'c' };
        my $commit = $api->create_commit($project, { branch => 'main', commit_message => 'Add', actions => [$action] });
        check($api->commit_diff($project, $commit->{id})->[0]{new_path} eq 'c.txt');
        $api->create_commit_comment($project, $commit->{id}, { note => 'Well done' });
        $api->create_commit_status($project, $commit->{id}, { state => $_, name => 'build' }) for qw(running success);
        check($api->commit_statuses($project, $commit->{id})->[0]{status} eq 'success');
        check($api->pipelines($project)->[0]{status} eq 'success');
    },
    references => sub {
        $api->create_branch($project, { branch => 'topic', ref => 'main' });
        $api->protect_branch($project, { name => 'topic' });
        check($api->branch($project, 'topic')->{protected});
        $api->unprotect_branch($project, 'topic');
        $api->delete_branch($project, 'topic');
        $api->create_tag($project, { tag_name => 'v1', ref => 'main' });
        check($api->tags($project)->[0]{name} eq 'v1');
    },
);
$tasks{ $ARGV[0] }->();
