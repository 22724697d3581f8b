import { type Driver, programTasks } from '../driver.js'

const libraries = ['org.eclipse.jgit', 'slf4j-api', 'slf4j-nop', 'javaewah', 'jsch']
const classPath = libraries.map((name) => `/usr/share/java/${name}.jar`).join(':')

export const jgit: Driver = {
  tool: 'JGit',
  debian: ['libjgit-java', 'default-jdk-headless'],
  tasks: programTasks(['/usr/bin/java', '-cp', classPath], 'JGitTasks.java', {
    push: 'clones, pushes a branch and deletes it, fetches',
  }),
}
