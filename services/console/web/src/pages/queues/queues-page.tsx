import { Page } from '../../components/page'

export const QueuesPage = () => <Page title="QueuesPage" />
