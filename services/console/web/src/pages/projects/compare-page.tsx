import { Page } from '../../components/page'

export const ComparePage = () => <Page title="ComparePage" />
