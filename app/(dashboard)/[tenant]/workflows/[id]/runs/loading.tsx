import { PageBody } from '@/app/_ui/page-body'
import { RowsSkeleton } from '../../../runs/rows-skeleton'
import { LoadingHeader } from '../../loading-header'

export default function Loading() {
  return (
    <>
      <LoadingHeader here="runs" />
      <PageBody>
        <RowsSkeleton />
      </PageBody>
    </>
  )
}
