// Several nests of loops in one window: each that is cut into strips changes what was known of the
// others.
#include <mpi.h>
#include <stdlib.h>
#define R 300
#define C 40000
static int g[R][C], v[65536];
static int val(int k,int i){return (int)((unsigned)k*1000003u+(unsigned)i*7u)&0xfffffff;}
int main(int argc,char**argv){int me,n;
 MPI_Init(&argc,&argv);MPI_Comm_rank(MPI_COMM_WORLD,&me);MPI_Comm_size(MPI_COMM_WORLD,&n);
 for(int k=0;k<4;k++){
  if(me==0)for(int r=1;r<n;r++)MPI_Send(v,65536,MPI_INT,r,k,MPI_COMM_WORLD);
  int up=(me+1)%n,dn=(me+n-1)%n;
  for(int i=1;i<R-1;i++)for(int j=0;j<C;j++)g[i][j]=val(me+k,i*C+j)&0xffff;
  long s=0,want=0;
  for(int i=1;i<R-1;i++)for(int j=1;j<C-1;j++)s+=g[i-1][j]-2L*g[i][j]+g[i+1][j]+g[i][j-1]-g[i][j+1];
#define G(i,j) ((i)==0?val(dn+k,(R-2)*C+(j))&0xffff:(i)==R-1?val(up+k,C+(j))&0xffff:val(me+k,(i)*C+(j))&0xffff)
  for(int i=1;i<R-1;i++)for(int j=1;j<C-1;j++)want+=(long)G(i-1,j)-2L*G(i,j)+G(i+1,j)+G(i,j-1)-G(i,j+1);
  if(s!=want)abort();}}
