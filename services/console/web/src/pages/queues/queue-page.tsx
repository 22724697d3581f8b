import { Page } from '../../components/page'

export const QueuePage = () => <Page title="QueuePage" />
