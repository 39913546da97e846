/** An unvalidated response of the sign-in service. */
export interface RawResponse {
  status: number;
  body: string;
}
