import { Page } from '../../components/page'

export const ProjectListPage = () => <Page title="ProjectListPage" />
