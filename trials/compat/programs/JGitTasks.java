import java.io.File;
import java.nio.file.Files;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.transport.RemoteRefUpdate;
import org.eclipse.jgit.transport.UsernamePasswordCredentialsProvider;

/** Tasks with JGit. */
class JGitTasks {
  public static void main(String[] args) throws Exception {
    var login = new UsernamePasswordCredentialsProvider(System.getenv("USERNAME"), System.getenv("TOKEN"));
    var address = System.getenv("URL") + "/" + System.getenv("PROJECT_PATH") + ".git";
    var folder = new File("clone");
    try (var git = Git.cloneRepository().setURI(address).setDirectory(folder).setCredentialsProvider(login).call()) {
      Files.writeString(new File(folder, "a.txt").toPath(), "a\n");
      git.add().addFilepattern("a.txt").call();
      var made = git.commit().setMessage("Add a file").setAuthor("Lab", "lab@example.com").call();
      push(git, login, "refs/heads/main:refs/heads/topic");
      var refs = git.lsRemote().setCredentialsProvider(login).callAsMap();
      if (!refs.get("refs/heads/topic").getObjectId().equals(made.getId())) throw new Exception("not pushed");
      push(git, login, ":refs/heads/topic");
      git.fetch().setCredentialsProvider(login).call();
    }
  }

  static void push(Git git, UsernamePasswordCredentialsProvider login, String what) throws Exception {
    for (var result : git.push().setRefSpecs(new RefSpec(what)).setCredentialsProvider(login).call())
      for (var update : result.getRemoteUpdates())
        if (update.getStatus() != RemoteRefUpdate.Status.OK) throw new Exception(update.toString());
  }
}
