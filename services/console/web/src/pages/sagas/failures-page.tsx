import { Page } from '../../components/page'

export const FailuresPage = () => <Page title="FailuresPage" />
