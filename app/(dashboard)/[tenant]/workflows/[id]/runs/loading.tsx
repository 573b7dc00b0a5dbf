import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { RowsSkeleton } from '../../../runs/rows-skeleton'

export default function Loading() {
  return (
    <>
      <PageHeader title="Runs" />
      <PageBody>
        <RowsSkeleton />
      </PageBody>
    </>
  )
}
