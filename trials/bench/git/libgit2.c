/*
 * The baseline in C: libgit2 in one thread, no HTTP, no JSON.
 *
 *   libgit2 REPOSITORY list|stats|diff SECONDS kept|anew < ids
 *   libgit2 REPOSITORY pick SECONDS kept|anew < lines of "commit onto branch"
 *
 * "kept" keeps the default cache of objects; with "anew", each object is read from its pack again.
 *
 * Prints the number of answers and the seconds they took.
 */
#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void check(int code, const char *what)
{
	if (code >= 0)
		return;
	const git_error *error = git_error_last();
	fprintf(stderr, "%s: %s\n", what, error ? error->message : "?");
	exit(1);
}

static volatile size_t touched;

/* SORT_NONE is the order of dates already; SORT_TIME would walk the whole history first. */
static void list(git_repository *repository, const git_oid *id)
{
	git_revwalk *walk;
	git_oid next;
	check(git_revwalk_new(&walk, repository), "revwalk");
	git_revwalk_sorting(walk, GIT_SORT_NONE);
	check(git_revwalk_push(walk, id), "push");
	for (int row = 0; row < 20 && git_revwalk_next(&next, walk) == 0; row++) {
		git_commit *commit;
		check(git_commit_lookup(&commit, repository, &next), "commit");
		touched += strlen(git_commit_message(commit)) + strlen(git_commit_author(commit)->name) +
			   strlen(git_commit_committer(commit)->email) + git_commit_parentcount(commit);
		git_commit_free(commit);
	}
	git_revwalk_free(walk);
}

static git_diff *diff_of(git_repository *repository, const git_oid *id)
{
	git_commit *commit, *parent = NULL;
	git_tree *tree, *before = NULL;
	git_diff *diff;
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;
	git_diff_find_options find = GIT_DIFF_FIND_OPTIONS_INIT;
	options.flags |= GIT_DIFF_INDENT_HEURISTIC;
	find.flags = GIT_DIFF_FIND_RENAMES;
	check(git_commit_lookup(&commit, repository, id), "commit");
	check(git_commit_tree(&tree, commit), "tree");
	if (git_commit_parentcount(commit) > 0) {
		check(git_commit_parent(&parent, commit, 0), "parent");
		check(git_commit_tree(&before, parent), "tree");
	}
	check(git_diff_tree_to_tree(&diff, repository, before, tree, &options), "diff");
	check(git_diff_find_similar(diff, &find), "renames");
	git_tree_free(tree);
	git_tree_free(before);
	git_commit_free(parent);
	git_commit_free(commit);
	return diff;
}

static void stats(git_repository *repository, const git_oid *id)
{
	git_diff *diff = diff_of(repository, id);
	git_diff_stats *counted;
	check(git_diff_get_stats(&counted, diff), "stats");
	touched += git_diff_stats_insertions(counted) + git_diff_stats_deletions(counted);
	git_diff_stats_free(counted);
	git_diff_free(diff);
}

static void patch(git_repository *repository, const git_oid *id)
{
	git_diff *diff = diff_of(repository, id);
	git_buf text = { 0 };
	check(git_diff_to_buf(&text, diff, GIT_DIFF_FORMAT_PATCH), "patch");
	touched += text.size;
	git_buf_dispose(&text);
	git_diff_free(diff);
}

static void pick(git_repository *repository, const char *line)
{
	char picked[41], onto[41], branch[256];
	git_oid id, tree_id, made;
	git_commit *commit, *base;
	git_index *index;
	if (sscanf(line, "%40s %40s %255s", picked, onto, branch) != 3)
		exit(2);
	check(git_oid_fromstr(&id, picked), "id");
	check(git_commit_lookup(&commit, repository, &id), "commit");
	check(git_oid_fromstr(&id, onto), "id");
	check(git_commit_lookup(&base, repository, &id), "commit");
	check(git_cherrypick_commit(&index, repository, commit, base, 0, NULL), "cherry-pick");
	if (!git_index_has_conflicts(index)) {
		git_tree *tree;
		const git_commit *parents[] = { base };
		check(git_index_write_tree_to(&tree_id, index, repository), "write tree");
		check(git_tree_lookup(&tree, repository, &tree_id), "tree");
		check(git_commit_create(&made, repository, branch, git_commit_author(commit),
					git_commit_committer(commit), NULL, git_commit_message(commit), tree, 1,
					parents),
		      "commit");
		git_tree_free(tree);
	}
	git_index_free(index);
	git_commit_free(base);
	git_commit_free(commit);
}

int main(int count, char **arguments)
{
	static char lines[200000][300];
	int given = 0, answers = 0;
	git_repository *repository;
	if (count != 5)
		return 2;
	git_libgit2_init();
	if (strcmp(arguments[4], "anew") == 0)
		git_libgit2_opts(GIT_OPT_ENABLE_CACHING, 0);
	check(git_repository_open_bare(&repository, arguments[1]), "open");
	while (given < 200000 && fgets(lines[given], sizeof lines[0], stdin))
		given++;
	const char *kind = arguments[2];
	double seconds = atof(arguments[3]), started = now(), spent = 0;
	/* A pick moves a branch, so each pick runs once. */
	int once = strcmp(kind, "pick") == 0;
	while (spent < seconds && !(once && answers == given)) {
		const char *line = lines[answers % given];
		git_oid id;
		if (!once)
			check(git_oid_fromstrn(&id, line, 40), "id");
		if (once)
			pick(repository, line);
		else if (strcmp(kind, "list") == 0)
			list(repository, &id);
		else if (strcmp(kind, "stats") == 0)
			stats(repository, &id);
		else
			patch(repository, &id);
		answers++;
		spent = now() - started;
	}
	printf("%d %f\n", answers, spent);
	git_repository_free(repository);
	return 0;
}
