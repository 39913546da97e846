/** An unvalidated response of the sign-in service. */
export interface RawAnswer {
  status: number;
  body: string;
}
