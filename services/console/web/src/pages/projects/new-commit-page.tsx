import { Page } from '../../components/page'

export const NewCommitPage = () => <Page title="NewCommitPage" />
