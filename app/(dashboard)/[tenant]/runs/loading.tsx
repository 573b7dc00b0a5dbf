import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { RowSkeletons } from './runs-list'

export default function Loading() {
  return (
    <>
      <PageHeader title="Runs" />
      <PageBody>
        <RowSkeletons />
      </PageBody>
    </>
  )
}
